import { McpError, type Client } from 'pierhead/client'
import type { Invocation } from './command.ts'
import { EXIT } from './exit.ts'
import { failureOf } from './failure.ts'
import type { Findings } from './finding.ts'
import type { Io } from './io.ts'
import { withLoginHint } from './login-hint.ts'
import { open } from './open.ts'
import type { ResolvedTarget } from './target.ts'
import { lintTools, type ListedTool } from './tool-lint.ts'

/** Clients give up on servers that take long to start. */
const SLOW_MS = 8_000

/** How long doctor waits for an answer. */
const PATIENCE = '30s'

const KINDS = { tools: 'tools', resources: 'resources', templates: 'resources', prompts: 'prompts' } as const

/** Connects to a server, and checks what it says. */
export async function checkServer(
  target: ResolvedTarget,
  invocation: Invocation,
  findings: Findings,
): Promise<void> {
  const warnings = new Set<string>()
  const onNote = (kind: string, text: string): void => {
    if (kind === 'warning' && warnings.size < 10) warnings.add(text)
  }
  const began = performance.now()
  findings.step('waiting for the server to answer …')
  try {
    await using opened = await open(target, invocation, { asks: false, onNote, timeout: PATIENCE })
    const tookMs = performance.now() - began
    const { client } = opened
    const { revision, info = {} } = await client.server()
    const { name, version } = info as { readonly name?: unknown; readonly version?: unknown }
    findings.ok(
      `connected to ${wordOf(name, '(no name)')} ${wordOf(version, '(no version)')} in ${Math.round(tookMs)} ms, revision ${revision}`,
    )
    if (revision < '2025-06-18')
      findings.advise(
        `the server only knows revision ${revision}`,
        'Update its SDK; newer clients may stop supporting it.',
      )
    if (tookMs > SLOW_MS)
      findings.advise(
        `it took ${Math.round(tookMs / 1000)} s until the server answered, and some clients give up sooner`,
        'Answer first, and load what is slow when it is needed. A program that npx downloads starts faster if it is installed.',
      )
    await checkLists(client, findings)
  } catch (error) {
    addFailure(error, target, invocation.io.env, findings)
  }
  for (const text of warnings) addWarning(text, findings)
}

/** What a server says of itself, which may be anything. */
function wordOf(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise
}

function addWarning(text: string, findings: Findings): void {
  const shown = findings.redacted(text).slice(0, 500)
  if (/to stdout that is not a message/.test(text))
    findings.problem(
      shown,
      'stdout is for messages only. Print with console.error instead of console.log, also in libraries and start scripts.',
    )
  else findings.advise(shown, 'Look into the log of the server.')
}

/** What to do about errors of programs, by what they print. A text that becomes part of a command must be the name of a package. */
const PROGRAM_FIXES: readonly (readonly [RegExp, (found: string) => string])[] = [
  [
    /Cannot find package '((?:@[a-z\d][\w.-]{0,100}\/)?[a-z\d][\w.-]{0,100})'/i,
    (name) => `npm install ${name}, in the folder of the server.`,
  ],
  [
    /Cannot find module '([\w@./\\:+ -]{1,200})'/,
    (name) => `Correct the path ${name}, or build the server first.`,
  ],
  [/Cannot use import statement outside a module/, () => 'npm pkg set type=module, or name the file .mjs.'],
  [
    /ERR_UNKNOWN_FILE_EXTENSION/,
    () => 'This Node does not run TypeScript: start it with pierhead run server.ts, or build it first.',
  ],
  [/EADDRINUSE/, () => 'Another program uses the port: end it, or choose another port.'],
  [
    /to stdout|stdout contains no messages/,
    () => 'stdout is for messages only: print with console.error. Is it an MCP server on stdio?',
  ],
  [/neither exports a server nor calls listen/, () => 'End the file with: export default app'],
  [/needs esbuild.*does not have it/, () => 'npm install --save-dev esbuild'],
]

/** Kinds of errors that tell what a program printed before it ended. Others may repeat what a server said, or one behind the program. */
const ENDS: readonly string[] = ['connect_failed', 'connection_closed']

function isOfProgram(error: unknown, { target }: ResolvedTarget): boolean {
  return 'command' in target && (!(error instanceof McpError) || ENDS.includes(error.kind))
}

function isFile({ from }: ResolvedTarget): boolean {
  return from === 'file' || from === 'project'
}

function addFailure(error: unknown, target: ResolvedTarget, env: Io['env'], findings: Findings): void {
  const failure = failureOf(withLoginHint(error, target, env))
  // What the user typed says nothing about the server.
  if (failure.kind === 'usage') throw failure
  const { message, hint } = failure
  const fixes = isOfProgram(error, target) ? PROGRAM_FIXES : []
  const known = fixes.flatMap(([pattern, fix]) => {
    const found = pattern.exec(message)
    return found === null ? [] : [fix(found[1] ?? '')]
  })
  const other = fixOf(error, target) ?? hint
  findings.problem(
    findings.redacted(message).slice(0, 4000),
    known[0] ?? (other || (isFile(target) ? 'Correct the program.' : 'Look into the log of the server.')),
  )
}

/** Advice about an error of the client; undefined if the error has its own. */
function fixOf(error: unknown, { target }: ResolvedTarget): string | undefined {
  if (!(error instanceof McpError)) return undefined
  if (error.kind === 'no_revision') return 'Update the server or this command, or leave --revision out.'
  return error.kind === 'timeout' && 'command' in target
    ? 'Check that it is an MCP server on stdio that prints nothing else to stdout. If it is only slow, raise --timeout.'
    : undefined
}

async function checkLists(client: Client, findings: Findings): Promise<void> {
  const { capabilities } = await client.server()
  for (const [kind, capability] of Object.entries(KINDS) as [keyof typeof KINDS, string][]) {
    if (capabilities[capability] === undefined) continue
    findings.step(`reading the list of ${kind} …`)
    try {
      const items = (await client[kind]().toArray()) as readonly ListedTool[]
      findings.ok(`${kind}: ${items.length}`)
      if (kind === 'tools') findings.addAll(lintTools(items, (name) => findings.redacted(name)))
    } catch (error) {
      const { message, hint, exit } = failureOf(error)
      findings.problem(
        `the list of ${kind} fails: ${findings.redacted(message).slice(0, 1000)}`,
        hint || 'Look into the log of the server.',
      )
      // A server that does not answer here would make the user wait for each of the others.
      if (exit === EXIT.timeout) return
    }
  }
}
