import { existsSync } from 'node:fs'
import { isAbsolute, relative } from 'node:path'
import { nearest } from '../base/nearest.ts'
import { programCheck, type NamedProgram } from './check-program.ts'
import { appFile, CLIENT_APPS, type ClientApp } from './client-apps.ts'
import { entryProblem, entryUrl, isMembers, plainEntry, SECTIONS, type Members } from './config-entry.ts'
import { missingVariables } from './config-variables.ts'
import { unknownMembers, urlAdvice } from './entry-advice.ts'
import type { Findings } from './finding.ts'
import type { Io } from './io.ts'
import { JsoncError, parseJsonc } from './jsonc.ts'
import { projectFiles } from './project-files.ts'
import { readText } from './read-text.ts'

/** What the entries of a file are checked with. */
interface Checks {
  readonly env: Io['env']
  readonly program: ReturnType<typeof programCheck>
}

/** The configurations that concern the user here: those of the project, and those of the clients on this machine. */
export function foundConfigs(io: Pick<Io, 'cwd' | 'env'>): readonly string[] {
  const own = CLIENT_APPS.map((app) => appFile(app, io, true)).filter(
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
  const app = appOf(file, io)
  let value: unknown
  try {
    const text = readText(file) ?? ''
    if (text.trim() === '') throw new Error('it is empty or does not exist')
    ;({ value } = parseJsonc(text))
    if (app?.isJsonc !== true && !isJson(text)) checkExtras(where, app, findings)
  } catch (error) {
    const problem =
      error instanceof JsoncError
        ? `is not valid JSON: ${error.message}`
        : `cannot be read: ${(error as Error).message}`
    findings.problem(`${where} ${problem}`, 'Correct the file. Clients ignore all of its servers until then.')
    return
  }
  const section = checkSection(value, where, app, findings)
  if (section === undefined) return
  const names = Object.keys(section).filter((name) => only === undefined || name === only)
  const before = findings.list.length
  const checks = { env: io.env, program: programCheck(io) }
  for (const name of names)
    checkEntry(section[name], `${where}, server "${name.slice(0, 80)}"`, checks, findings)
  const isFine = findings.list.slice(before).every(({ level }) => level === 'ok')
  if (!isFine) return
  findings.ok(
    only === undefined
      ? `${where} is valid, with ${names.length === 1 ? '1 server' : `${names.length} servers`}`
      : `the server "${only.slice(0, 80)}" in ${where} is valid`,
  )
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** What a file has beyond JSON is a problem if its client is known not to read it. */
function checkExtras(where: string, app: ClientApp | undefined, findings: Findings): void {
  const found = `${where} has comments or trailing commas, which`
  if (app?.isJsonc === false)
    findings.problem(`${found} ${app.title} cannot read`, 'Remove them. Its servers are missing until then.')
  else findings.advise(`${found} not all clients read`, 'Remove them.')
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
    const meant = other === undefined ? nearest(wanted, Object.keys(value)) : undefined
    if (meant !== undefined)
      findings.problem(`${where}: clients do not know "${meant.slice(0, 80)}"`, `Rename it to "${wanted}".`)
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

function checkEntry(given: unknown, where: string, checks: Checks, findings: Findings): void {
  if (isMembers(given))
    for (const name of missingVariables(JSON.stringify(given), checks.env))
      findings.problem(
        `${where} uses the variable ${name}, which is not set`,
        `Set ${name}, or write \${${name}:-default}.`,
      )
  const problem = entryProblem(given)
  if (problem !== undefined) return findings.problem(`${where} ${problem[0]}`, problem[1])
  const entry = plainEntry(given as Members)
  for (const [text, fix] of [...unknownMembers(given as Members), ...urlAdvice(entry)])
    findings.advise(`${where} ${text}`, fix)
  if (entry['command'] === undefined) return undefined
  if (entryUrl(entry) !== undefined)
    findings.advise(
      `${where} has a command and a URL`,
      'Remove one of them; clients differ in which they take.',
    )
  return checkCommand(entry as unknown as NamedProgram, where, checks, findings)
}

function checkCommand(
  { command, args = [], cwd }: NamedProgram,
  where: string,
  checks: Checks,
  findings: Findings,
): void {
  if (/\$\{/.test(command)) return undefined
  const folder = cwd?.includes('${') === true ? undefined : cwd
  for (const { level, text, fix = '' } of checks.program({ command, args, cwd: folder }))
    if (level === 'problem') findings.problem(`${where}: ${text}`, fix)
  const script = args.find((arg) => /\.[cm]?[jt]s$|\.py$/.test(arg) && !arg.includes('${'))
  if (script !== undefined && !isAbsolute(script) && !script.startsWith('-') && folder === undefined)
    findings.advise(
      `${where}: ${script} is a relative path, and clients run programs in folders of their own`,
      'Write the whole path.',
    )
  else if (script !== undefined && isAbsolute(script) && !existsSync(script))
    findings.problem(`${where}: there is no file ${script}`, 'Correct the path.')
  return undefined
}
