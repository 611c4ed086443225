import { resolve } from 'node:path'
import type { Client, Tool } from 'pierhead/client'
import type { Command } from '../command.ts'
import { EXIT } from '../exit.ts'
import { Failure } from '../failure.ts'
import { differenceOf, readFixtures, writeFixtures, type Fixture, type FixtureFile } from '../fixtures.ts'
import { generatedCases } from '../../validate/generated-cases.ts'
import { safeLine } from '../safe-text.ts'

/** The outcome of one case. */
interface Outcome {
  readonly tool: string
  readonly name: string
  readonly from: 'fixture' | 'schema'
  /** What is wrong; undefined if the case passed. */
  readonly problem: string | undefined
}

/** What a tool did with an input. */
type Answer = { readonly output: unknown } | { readonly error: string; readonly isRejected: boolean }

export const test: Command = {
  name: 'test',
  group: 'Check a server',
  summary: 'test the tools of a server with fixtures, and with cases from their schemas',
  details:
    'Reads fixtures/<tool>.json: a list of { "input", "output" } or { "input", "error" }. With --generate it also makes cases from the schemas of all tools, ' +
    'which are called with them: use it only where calls do no harm. --update writes what the tools answer into the fixtures.',
  hasTarget: true,
  arguments: [{ name: 'tool', summary: 'only these tools', isOptional: true, isMany: true }],
  options: [
    { flags: '--fixtures <folder>', summary: 'where the fixtures are (fixtures)' },
    { flags: '-u, --update', summary: 'replace the expected outputs by the real ones' },
    {
      flags: '-g, --generate',
      summary: 'also test with cases made from the schemas; tools that are not read-only are left out',
    },
    { flags: '--all', summary: 'with --generate: include tools that change things' },
  ],
  examples: [
    ['test', 'tests the server of the project with its fixtures'],
    ['test http://localhost:3000/mcp --generate', 'tests a running server with cases from its schemas'],
  ],
  async run({ words: only, flags, io, output, open }) {
    const folder = resolve(io.cwd, flags.text('fixtures') ?? 'fixtures')
    const files = readFixtures(folder, io.cwd).filter(({ tool }) => only.length === 0 || only.includes(tool))
    const { client } = await open()
    const tools = (await client.tools().toArray()).filter(
      ({ name }) => only.length === 0 || only.includes(name),
    )
    if (flags.is('update')) {
      const count = await update(client, files)
      await output.data({ updated: count }, () => `Updated ${count} fixtures in ${files.length} files.`)
      return EXIT.ok
    }
    const outcomes: Outcome[] = []
    const note = (one: Outcome): void => {
      outcomes.push(one)
      output.status(
        `${outcomes.length} cases, ${outcomes.filter(({ problem }) => problem !== undefined).length} failed`,
      )
    }
    for (const file of files) await testFixtures(client, file, tools, note)
    const skipped = flags.is('generate') ? await testGenerated(client, tools, flags.is('all'), note) : []
    output.status('')
    if (outcomes.length === 0)
      throw new Failure('there is nothing to test', {
        hint: `Write fixtures/<tool>.json, or use --generate.`,
        exit: EXIT.usage,
      })
    const failed = outcomes.filter(({ problem }) => problem !== undefined)
    const passed = outcomes.length - failed.length
    await output.data({ passed, failed: failed.length, skipped, cases: outcomes }, () =>
      [
        ...outcomes.map(({ tool, name, problem }) =>
          problem === undefined
            ? `${output.colors.green('✓')} ${safeLine(tool)}: ${safeLine(name)}`
            : `${output.colors.red('✗')} ${safeLine(tool)}: ${safeLine(name)}\n    ${safeLine(problem, 500)}`,
        ),
        ...(skipped.length > 0
          ? [
              `not called, because they may change things: ${skipped.map((one) => safeLine(one)).join(', ')} (--all includes them)`,
            ]
          : []),
        `${passed} passed, ${failed.length} failed`,
      ].join('\n'),
    )
    return failed.length > 0 ? EXIT.checks : EXIT.ok
  },
}

async function testFixtures(
  client: Client,
  { tool, fixtures }: FixtureFile,
  tools: readonly Tool[],
  note: (one: Outcome) => void,
): Promise<void> {
  const isKnown = tools.some(({ name }) => name === tool)
  for (const [i, fixture] of fixtures.entries()) {
    const problem = isKnown
      ? problemOf(fixture, await answerOf(client, tool, fixture.input))
      : 'the server has no such tool'
    note({ tool, name: fixture.name ?? `fixture ${i + 1}`, from: 'fixture', problem })
  }
}

/** Compares what a tool did with what a fixture expects. */
function problemOf({ output, error }: Fixture, answer: Answer): string | undefined {
  if (error !== undefined) {
    if (!('error' in answer)) return `it returned ${JSON.stringify(answer.output)} instead of an error`
    return error === true || answer.error.includes(error) ? undefined : `its error is "${answer.error}"`
  }
  return 'error' in answer ? `it failed: ${answer.error}` : differenceOf(output, answer.output)
}

/** Calls tools with cases from their schemas. Returns the names of those that were left out. */
async function testGenerated(
  client: Client,
  tools: readonly Tool[],
  all: boolean,
  note: (one: Outcome) => void,
): Promise<readonly string[]> {
  const skipped: string[] = []
  for (const { name: tool, inputSchema, annotations } of tools) {
    if (!all && annotations?.readOnlyHint !== true) {
      skipped.push(tool)
      continue
    }
    for (const { name, input, isWrong } of generatedCases(inputSchema)) {
      const answer = await answerOf(client, tool, input)
      const isRejected = 'error' in answer && answer.isRejected
      const problem =
        isWrong && !('error' in answer)
          ? 'it accepted an input that its schema rejects'
          : !isWrong && isRejected
            ? `it rejected an input that its schema accepts: ${answer.error}`
            : undefined
      note({ tool, name, from: 'schema', problem })
    }
  }
  return skipped
}

async function answerOf(
  client: Client,
  tool: string,
  input: Readonly<Record<string, unknown>>,
): Promise<Answer> {
  const { McpError, ToolError } = await import('pierhead/client')
  try {
    return { output: await client.call(tool, input) }
  } catch (error) {
    // Without a connection there is no answer to judge.
    if (error instanceof McpError && /^(?:connect|closed|timeout)/.test(error.kind)) throw error
    if (!(error instanceof Error)) throw error
    const isRejected =
      error instanceof McpError
        ? error.code === -32_602
        : error instanceof ToolError && /invalid|argument/i.test(error.message)
    return { error: error.message, isRejected }
  }
}

async function update(client: Client, files: readonly FixtureFile[]): Promise<number> {
  let count = 0
  for (const { file, tool, fixtures } of files) {
    const fresh: Fixture[] = []
    for (const { name, input } of fixtures) {
      const answer = await answerOf(client, tool, input)
      fresh.push({
        ...(name !== undefined && { name }),
        input,
        ...('error' in answer ? { error: answer.error } : { output: answer.output }),
      })
      count++
    }
    writeFixtures(file, fresh)
  }
  return count
}
