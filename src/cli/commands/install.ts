import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { nearest } from '../../base/nearest.ts'
import { suggestion } from '../arranged-line.ts'
import {
  appFile,
  CLIENT_APPS,
  foundApps,
  spelledEntry,
  type ClientApp,
  type ServerEntry,
} from '../client-apps.ts'
import type { Command, Invocation } from '../command.ts'
import { TARGET_OPTIONS } from '../common-options.ts'
import {
  backUp,
  configText,
  entryDigest,
  findBackup,
  replaceBacked,
  restore,
  type Backup,
} from '../config-write.ts'
import { confirmed } from '../confirm.ts'
import { EXIT, type ExitCode } from '../exit.ts'
import { Failure, wrongUsage } from '../failure.ts'
import { defaultName, entryOf } from '../install-entry.ts'
import { withMember, withoutMember } from '../jsonc-edit.ts'
import { JsoncError, parseJsonc } from '../jsonc.ts'
import { hiddenValues, isReference, redactedEntry } from '../redaction.ts'
import { safe, safeJson, safeLine } from '../safe-text.ts'
import { onlyTarget } from '../target.ts'
import { userFolders } from '../user-folders.ts'
import { checkLinks, realFile, realProjectFile, replaceFile } from '../write-file.ts'

const NAMES = CLIENT_APPS.map(({ name }) => name)

const FROM_TARGET: readonly string[] = ['--server', '--config', '--header', '--env']

export const install: Command = {
  name: 'install',
  group: 'Set up',
  summary: 'add a server to the configuration of a client',
  details:
    `The clients are ${CLIENT_APPS.map(({ name, title }) => `${name} (${title})`).join(', ')}. ` +
    'The change is shown first, without secrets. The old file is kept beside the new one. --undo brings it back, or takes back only the entry if the file was changed since. ' +
    'Comments in the file stay. --env NAME writes a reference to the variable where the client knows such references, and its value otherwise.',
  arguments: [
    {
      name: 'target',
      summary: 'a URL, a file, a name of an mcp.json file, or a program after --',
      isOptional: true,
    },
  ],
  options: [
    { flags: '-c, --client <name>', summary: `the client: ${NAMES.join(', ')}`, values: NAMES },
    { flags: '--name <name>', summary: 'the name of the server in the configuration' },
    {
      flags: '--global',
      summary: 'for all projects of the user, where the client also has a file per project',
    },
    { flags: '-y, --yes', summary: 'do not ask' },
    { flags: '--print', summary: 'only show the entry' },
    { flags: '--undo', summary: 'take the last entry back' },
    ...TARGET_OPTIONS.filter(({ flags }) => FROM_TARGET.some((name) => flags.includes(`${name} `))),
  ],
  examples: [
    ['install server.ts --client cursor', 'lets Cursor start server.ts in this project'],
    ['install https://mcp.example/mcp --client vscode --name notes', 'adds a server at a URL to VS Code'],
    ['install --client cursor --undo', 'takes it back'],
  ],
  async run(invocation) {
    const { flags } = invocation
    const app = appOf(invocation)
    const isGlobal = flags.is('global')
    const file = appFile(app, invocation.io, isGlobal)
    if (file === undefined || (isGlobal && app.user === undefined))
      throw wrongUsage(
        `${app.title} has no file for ${app.user === undefined ? 'all projects' : 'a user without a home folder'}`,
        app.user === undefined ? 'Leave --global out.' : 'Set HOME to your home folder.',
      )
    const place = placeOf(file, app, invocation)
    return flags.is('undo') ? undo(invocation, app, place) : add(invocation, app, place)
  },
}

/** The file of a client. */
interface Place {
  /** Its path, as the client knows it. */
  readonly path: string
  /** Whether it belongs to the project, and not to the user. */
  readonly isOfProject: boolean
  /** How it is called here. */
  readonly where: string
  /** The file that the path leads to. Throws if it must not be written. */
  real(): string
}

function placeOf(path: string, app: ClientApp, { flags, io }: Invocation): Place {
  const isOfProject = app.project !== undefined && !flags.is('global')
  return {
    path,
    isOfProject,
    where: shortened(path, io.cwd),
    real() {
      if (isOfProject) return realProjectFile(path, io.cwd, io)
      checkLinks(path, userFolders(io.env).home ?? dirname(path), io.env)
      return realFile(path)
    },
  }
}

function shortened(path: string, cwd: string): string {
  return relative(cwd, path).startsWith('..') ? path : relative(cwd, path)
}

/** How a file is called, with the one that it leads to if it is a link. */
function calledOf({ path, where }: Place, file: string, cwd: string): string {
  const home = realpathSync(cwd)
  if (file === path || file === join(home, relative(cwd, path))) return where
  return `${where} (a link to ${shortened(file, home)})`
}

/** The app that the user names. */
function appOf({ flags, io }: Invocation): ClientApp {
  const name = flags.text('client')
  const app = CLIENT_APPS.find((one) => one.name === name)
  if (app !== undefined) return app
  const found = foundApps(io).map((one) => one.name)
  const hint = `${found.length === 0 ? 'None was found on this machine; the known ones are' : `Found on this machine: ${found.join(', ')}. All:`} ${NAMES.join(', ')}.`
  if (name === undefined) throw wrongUsage('the client is missing: --client <name>', hint)
  throw wrongUsage(`there is no client "${name}"${suggestion(nearest(name, NAMES))}`, hint)
}

/** What happens if the user says no: that is no error, but scripts must see that nothing was done. */
function unchanged({ output, io }: Invocation): ExitCode {
  output.note('Nothing was changed.')
  return io.signal.aborted ? EXIT.interrupted : EXIT.failed
}

async function add(invocation: Invocation, app: ClientApp, place: Place): Promise<ExitCode | void> {
  const { words, rest, flags, io, output } = invocation
  const target = onlyTarget({ words, program: rest }, flags, io)
  const entry = entryOf(target, app, flags, io)
  const spelled = spelledEntry(app, entry)
  if (spelled === undefined)
    throw wrongUsage(
      `${app.title} cannot have a URL in this file`,
      'Add the server in its settings, as a connector.',
    )
  if ('url' in entry && !/^https?:/i.test(entry.url))
    throw wrongUsage(`${app.title} only knows http and https URLs`, 'Name the http URL of the server.')
  const name = nameOf(flags.text('name') ?? defaultName(target, entry, io.env))
  warnFolder(entry, app, invocation)
  const shown = redactedEntry(spelled)
  const { path, where, isOfProject } = place
  if (flags.is('print')) {
    const whole = { [app.section]: { [name]: shown } }
    await output.data(
      { client: app.name, file: path, config: whole },
      () => `${where}:\n${safeJson(whole, 2)}`,
    )
    return
  }
  if (!isOfProject) checkInstalled(app, path, invocation)
  const file = place.real()
  const called = calledOf(place, file, io.cwd)
  const before = configText(file)
  const old = entryIn(serversOf(before, app, path), name)
  const after = withMember(before, app.section, name, spelled)
  if (after === before) {
    await output.data(
      { client: app.name, file: path, name, isChanged: false },
      () => `${where} has this entry already.`,
    )
    return
  }
  const change = diffText(called, name, app, old, spelled)
  const isSecret = hasSecrets(spelled)
  if (isOfProject && isSecret)
    output.warn(
      `${safe(where)} will have the values of variables or headers, or what may be secrets in a URL or in arguments; do not commit it, nor its copies ${safe(basename(called))}.before-pierhead-…, if they are secret${
        app.reference === undefined ? '' : '. --env NAME without a value writes only the name of a variable'
      }`,
    )
  if (!(await confirmed(invocation, `Write it to ${safe(called)}?`, change))) return unchanged(invocation)
  const backup = backUp(file, { before, after, entry: entryDigest(name, spelled) })
  replaceFile(file, after, isOfProject && !isSecret ? 0o644 : 0o600)
  await output.data({ client: app.name, file: path, name, isChanged: true, entry: shown, backup }, () =>
    [
      `Added "${name}" to ${where}. Restart ${app.title}, or reload its servers.`,
      `To take it back: ${output.colors.cyan(`pierhead install --client ${app.name}${flags.is('global') ? ' --global' : ''} --undo`)}`,
    ].join('\n'),
  )
}

/** Whether an entry has values that may be secrets, and not only names of variables. */
function hasSecrets(spelled: object): boolean {
  return hiddenValues(spelled).some(
    (value) => !isReference(value.replace(/^(?:bearer|basic|digest)\s+/i, '')),
  )
}

/** Says so if the program will start elsewhere than before. */
function warnFolder(entry: ServerEntry, app: ClientApp, { output }: Invocation): void {
  if (!('command' in entry) || entry.cwd === undefined || app.hasFolder === true) return
  output.warn(
    `the program runs in ${safe(entry.cwd)} so far, and ${app.title} starts programs in a folder of its own. If it needs that folder, let it change there itself.`,
  )
}

function nameOf(name: string): string {
  if (/^[\w-][\w.-]{0,63}$/.test(name) && name !== '__proto__') return name
  throw wrongUsage(
    `"${safeLine(name, 80)}" is not a usable name for a server`,
    'Use up to 64 letters, digits, -, _ and ., and do not begin with a dot: --name notes.',
  )
}

/** A file of the user whose folder does not exist belongs to an app that is not there. */
function checkInstalled(app: ClientApp, path: string, { io }: Invocation): void {
  if (existsSync(dirname(path))) return
  const found = foundApps(io).map(({ name }) => name)
  throw new Failure(`${app.title} is not installed: there is no folder ${dirname(path)}`, {
    hint:
      found.length === 0
        ? `Install it and start it once. --print shows the entry without writing it.`
        : `Found on this machine: ${found.join(', ')}. --print shows the entry without writing it.`,
  })
}

/** The entry with a name; undefined if there is none. */
function entryIn(servers: Servers | undefined, name: string): unknown {
  return servers !== undefined && Object.hasOwn(servers, name) ? servers[name] : undefined
}

type Servers = Readonly<Record<string, unknown>>

/** The servers in a file, if it has any. Explains a file that cannot be read. */
function serversOf(text: string, app: ClientApp, path: string): Servers | undefined {
  if (text.trim() === '') return undefined
  try {
    const value = parseJsonc(text).value as Readonly<Record<string, Servers>> | null
    const servers = value?.[app.section]
    return typeof servers === 'object' && servers !== null ? servers : undefined
  } catch (error) {
    if (!(error instanceof JsoncError)) throw error
    throw new Failure(`${path} is not valid JSON: ${error.message}`, {
      hint: 'Correct the file first; nothing was changed.',
      cause: error,
    })
  }
}

/** The change for people: lines that go and lines that come. */
function diffText(where: string, name: string, app: ClientApp, old: unknown, wanted: unknown): string {
  const lines = (mark: string, value: unknown): readonly string[] =>
    safeJson({ [name]: value }, 2)
      .split('\n')
      .slice(1, -1)
      .map((text) => `${mark} ${text}`)
  return [
    `${safe(where)}, in "${app.section}":`,
    ...(old === undefined ? [] : lines('-', redactedEntry(old))),
    ...(wanted === undefined ? [] : lines('+', redactedEntry(wanted))),
  ].join('\n')
}

async function undo(invocation: Invocation, app: ClientApp, place: Place): Promise<ExitCode | void> {
  const { output, flags, words, rest } = invocation
  if (words.length > 0 || rest.length > 0 || flags.text('server') !== undefined)
    throw wrongUsage('--undo takes the last entry back, and takes no target', 'Leave the target out.')
  const { path, where } = place
  const file = place.real()
  const backup = findBackup(file)
  if (backup === undefined)
    throw new Failure(`there is no backup of ${where}`, { hint: 'Remove the entry from the file yourself.' })
  if (!backup.isCurrent) return undoEntry(invocation, app, { file, backup, place })
  if (!(await confirmed(invocation, `Bring back ${where} as it was?`))) return unchanged(invocation)
  restore(file, backup.path)
  await output.data({ client: app.name, file: path, isRestored: true }, () => `${where} is as it was before.`)
}

interface ChangedFile {
  readonly file: string
  readonly backup: Backup
  readonly place: Place
}

/** Takes an entry back in a file that was changed since, and keeps what was changed. */
async function undoEntry(
  invocation: Invocation,
  app: ClientApp,
  { file, backup, place: { path, where } }: ChangedFile,
): Promise<ExitCode | void> {
  const text = configText(file)
  const written = Object.entries(serversOf(text, app, path) ?? {}).find(
    ([key, entry]) => entryDigest(key, entry) === backup.entry,
  )
  if (written === undefined)
    throw new Failure(`${where} was changed since, and does not have the entry as it was written`, {
      hint: `Change or remove the entry yourself. ${backup.path} is the file as it was before.`,
    })
  const [name, entry] = written
  const before = serversOf(configText(backup.path), app, backup.path)
  const old = entryIn(before, name)
  const after =
    old === undefined
      ? withoutMember(text, app.section, name, before !== undefined)
      : withMember(text, app.section, name, old)
  const change = diffText(where, name, app, entry, old)
  const question = `${where} was changed since. Take back only this entry?`
  if (!(await confirmed(invocation, question, change))) return unchanged(invocation)
  replaceBacked(file, after, backup.path)
  await invocation.output.data(
    { client: app.name, file: path, isRestored: true, name },
    () => `Took back "${name}" in ${where}, and kept what was changed since.`,
  )
}
