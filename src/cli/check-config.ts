import { existsSync } from 'node:fs'
import { isAbsolute, relative } from 'node:path'
import { checkProgram } from './check-program.ts'
import { appFile, CLIENT_APPS, type ClientApp } from './client-apps.ts'
import { readText } from './config-write.ts'
import { Findings } from './finding.ts'
import type { Io } from './io.ts'
import { JsoncError, parseJsonc } from './jsonc.ts'
import { projectFiles } from './project-files.ts'
import { isUrl as isParsed } from '../protocol/url.ts'

type Members = Readonly<Record<string, unknown>>

const SECTIONS = ['mcpServers', 'servers', 'context_servers'] as const

/** The configurations that concern the user here: those of the project, and those of the clients on this machine. */
export function foundConfigs(io: Pick<Io, 'cwd' | 'env'>): readonly string[] {
  const own = CLIENT_APPS.flatMap((app) => [appFile(app, io, false), appFile(app, io, true)]).filter(
    (file): file is string => file !== undefined && existsSync(file),
  )
  return [...new Set([...projectFiles(io), ...own])]
}

/** Checks a configuration without starting anything; only the entry with a name, if there is one. */
export function checkConfig(
  file: string,
  io: Pick<Io, 'cwd' | 'env'>,
  findings: Findings,
  only?: string,
): void {
  const where = relative(io.cwd, file).startsWith('..') ? file : relative(io.cwd, file)
  let value: unknown
  try {
    const text = readText(file)
    if (text.trim() === '') throw new Error('it is empty or does not exist')
    ;({ value } = parseJsonc(text))
  } catch (error) {
    const problem =
      error instanceof JsoncError
        ? `is not valid JSON: ${error.message}`
        : `cannot be read: ${(error as Error).message}`
    findings.problem(`${where} ${problem}`, 'Correct the file. Clients ignore all of its servers until then.')
    return
  }
  const section = checkSection(value, where, appOf(file, io), findings)
  if (section === undefined) return
  const names = Object.keys(section).filter((name) => only === undefined || name === only)
  const before = findings.list.length
  for (const name of names) checkEntry(section[name], `${where}, server "${name.slice(0, 80)}"`, io, findings)
  const isFine = findings.list.slice(before).every(({ level }) => level === 'ok')
  if (isFine)
    findings.ok(`${where} is valid, with ${names.length === 1 ? '1 server' : `${names.length} servers`}`)
}

/** The client that reads a file. */
function appOf(file: string, io: Pick<Io, 'cwd' | 'env'>): ClientApp | undefined {
  return CLIENT_APPS.find(
    (app) =>
      appFile(app, io, true) === file ||
      (app.project !== undefined && file.replaceAll('\\', '/').endsWith(`/${app.project}`)),
  )
}

/** The servers of a file, under the name that its client reads. */
function checkSection(
  value: unknown,
  where: string,
  app: ClientApp | undefined,
  findings: Findings,
): Members | undefined {
  if (!isMembers(value)) {
    findings.problem(`${where} is not an object`, 'Write { "mcpServers": { … } }.')
    return undefined
  }
  const wanted = app?.section ?? SECTIONS.find((name) => Object.hasOwn(value, name)) ?? 'mcpServers'
  const other = SECTIONS.find((name) => name !== wanted && Object.hasOwn(value, name))
  if (!Object.hasOwn(value, wanted)) {
    if (other !== undefined && app !== undefined)
      findings.problem(`${where}: ${app.title} does not read "${other}"`, `Rename it to "${wanted}".`)
    return undefined
  }
  const section = value[wanted]
  if (isMembers(section)) return section
  findings.problem(
    `${where}: "${wanted}" is not an object`,
    `Write "${wanted}": { "name": { "command": "…" } }.`,
  )
  return undefined
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function checkEntry(entry: unknown, where: string, io: Pick<Io, 'cwd' | 'env'>, findings: Findings): void {
  if (!isMembers(entry)) {
    findings.problem(
      `${where} is not an object`,
      'Write { "command": "…", "args": [] } or { "url": "https://…" }.',
    )
    return
  }
  for (const name of missingVariables(entry, io.env))
    findings.problem(
      `${where} uses the variable ${name}, which is not set`,
      `Set ${name}, or write \${${name}:-default}.`,
    )
  const { command } = entry
  const url = entry['url'] ?? entry['serverUrl'] ?? entry['httpUrl']
  if (command !== undefined && url !== undefined)
    findings.advise(
      `${where} has a command and a URL`,
      'Remove one of them; clients differ in which they take.',
    )
  if (command === undefined && url === undefined)
    findings.problem(
      `${where} has neither a command nor a URL`,
      'Add "command" for a program, or "url" for a server on the network.',
    )
  if (command !== undefined) checkCommand(entry, where, io, findings)
  else if (url !== undefined && !isUrl(url))
    findings.problem(`${where}: the URL is not valid`, 'Write it like https://mcp.example/mcp.')
}

function checkCommand(entry: Members, where: string, io: Pick<Io, 'cwd' | 'env'>, findings: Findings): void {
  const { command, args, env, cwd } = entry
  if (typeof command !== 'string' || command === '')
    return findings.problem(
      `${where}: "command" is not a text`,
      'Write the program alone: "command": "node".',
    )
  if (args !== undefined && (!Array.isArray(args) || args.some((arg) => typeof arg !== 'string')))
    return findings.problem(
      `${where}: "args" is not a list of texts`,
      'Write "args": ["server.js", "--port", "3000"].',
    )
  if (env !== undefined && (!isMembers(env) || Object.values(env).some((one) => typeof one !== 'string')))
    findings.problem(`${where}: the values of "env" are not texts`, 'Write "env": { "PORT": "3000" }.')
  if (/\$\{/.test(command)) return undefined
  const found = new Findings()
  const folder = typeof cwd === 'string' && !cwd.includes('${') ? cwd : undefined
  checkProgram({ command, args: (args ?? []) as readonly string[], cwd: folder }, io, found)
  for (const { level, text, fix = '' } of found.list)
    if (level === 'problem') findings.problem(`${where}: ${text}`, fix)
  const script = ((args ?? []) as readonly string[]).find(
    (arg) => /\.[cm]?[jt]s$|\.py$/.test(arg) && !arg.includes('${'),
  )
  if (script !== undefined && !isAbsolute(script) && !script.startsWith('-') && folder === undefined)
    findings.advise(
      `${where}: ${script} is a relative path, and clients run programs in folders of their own`,
      'Write the whole path.',
    )
  else if (script !== undefined && isAbsolute(script) && !existsSync(script))
    findings.problem(`${where}: there is no file ${script}`, 'Correct the path.')
  return undefined
}

/** The variables that an entry needs and the environment lacks. */
function missingVariables(entry: unknown, env: Io['env']): readonly string[] {
  const used = JSON.stringify(entry).matchAll(/\$\{(?:env:)?([A-Za-z_]\w*)\}/g)
  const known = new Set(['workspaceFolder', 'userHome', 'pathSeparator', 'workspaceFolderBasename'])
  return [...new Set(Array.from(used, ([, name = '']) => name))].filter(
    (name) => !known.has(name) && env[name] === undefined,
  )
}

function isUrl(value: unknown): boolean {
  // A variable may be anything.
  return typeof value === 'string' && (value.includes('${') || isParsed(value))
}
