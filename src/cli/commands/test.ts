import { join, relative, resolve } from 'node:path'
import type { Command, Invocation } from '../command.ts'
import { EXIT } from '../exit.ts'
import { Failure, wrongUsage } from '../failure.ts'
import { FixtureAnswers } from '../fixture-answers.ts'
import { isFolder, readFixtures, type FixtureFile, type FixturePlace } from '../fixtures.ts'
import type { Io } from '../io.ts'
import { userProject } from '../project-files.ts'
import { projectServer } from '../project-server.ts'
import { safeLine } from '../safe-text.ts'
import type { ResolvedTarget } from '../target.ts'
import {
  testFixtures,
  testGenerated,
  updateFixtures,
  type Note,
  type TestCase,
  type Unmade,
} from '../tool-tests.ts'
import { unknownTool } from '../unknown-tool.ts'

/** Tasks of an earlier run would answer calls with the same key, and those of a test have no place among those of a developer. */
const FRESH = { PIERHEAD_STORE: 'memory' }

export const test: Command = {
  name: 'test',
  group: 'Check a server',
  summary: 'test the tools of a server with fixtures, and with cases from their schemas',
  details:
    'Reads fixtures/<tool>.json: a list of { "input", "output" } or { "input", "error" }. With --generate it also makes cases from the schemas of all tools, ' +
    'which are called with them: use it only where calls do no harm. --update changes what fixtures expect to what the tools answer, where they differ.',
  hasTarget: true,
  arguments: [{ name: 'tool', summary: 'only these tools', isOptional: true, isMany: true }],
  options: [
    { flags: '--fixtures <folder>', summary: 'where the fixtures are (fixtures)' },
    { flags: '-u, --update', summary: 'replace the expected outputs that differ by the real ones' },
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
  async run(invocation) {
    const { words: only, flags, io, output, open } = invocation
    const given = flags.text('fixtures')
    if (flags.is('all') && !flags.is('generate'))
      throw wrongUsage('--all is only for --generate', 'Add --generate, or leave --all out.')
    if (given !== undefined && !isFolder(resolve(io.cwd, given)))
      throw wrongUsage(`there is no folder ${given}`, 'Name the folder that has <tool>.json files.')
    const { client, target, printed } = await open({ env: FRESH })
    const all = await client.tools().toArray()
    const names = all.map(({ name }) => name)
    const unknown = only.find((name) => !names.includes(name))
    if (unknown !== undefined) throw unknownTool(unknown, names)
    const isMeant = (name: string): boolean => only.length === 0 || only.includes(name)
    const tools = all.filter(({ name }) => isMeant(name))
    const place = given === undefined ? fixturePlace(target, io) : namedPlace(resolve(io.cwd, given), io)
    const files = readFixtures(place, io).filter(({ tool }) => isMeant(tool))
    const answers = files.some(({ fixtures }) => fixtures.some((one) => one.answers !== undefined))
      ? new FixtureAnswers()
      : undefined
    if (answers !== undefined) await client.answer({ elicit: answers.elicit })
    const subject = { client, tools, signal: io.signal, answers }
    if (flags.is('update')) {
      if (files.every(({ fixtures }) => fixtures.length === 0)) throw nothing()
      return reportUpdate(await updateFixtures(subject, files), files, invocation)
    }
    const cases: TestCase[] = []
    let failed = 0
    const note: Note = async (one) => {
      const cause = await printed.causeOfText(one.problem ?? '')
      cases.push(cause.length === 0 ? one : { ...one, cause })
      if (one.problem !== undefined) failed++
      output.status(`${cases.length} cases, ${failed} failed`)
    }
    for (const file of files) await testFixtures(subject, file, note)
    const { skipped, unmade } = flags.is('generate')
      ? await testGenerated(subject, flags.is('all'), note)
      : { skipped: [], unmade: [] }
    output.status('')
    if (cases.length === 0) throw nothing(skipped, unmade)
    await reportCases({ cases, failed, skipped, unmade }, invocation)
    return failed > 0 ? EXIT.checks : EXIT.ok
  },
}

/** The folder of the fixtures: that of the project for its own server, or else the nearest. */
function fixturePlace(target: ResolvedTarget, io: Io): FixturePlace {
  const here = join(io.cwd, 'fixtures')
  const project = projectServer(io)
  if (project === undefined) return { folder: here, project: io.cwd, isNamed: false }
  const own = join(project.cwd, 'fixtures')
  const folder = target.from === 'project' || !isFolder(here) ? own : here
  return { folder, project: project.cwd, isNamed: false }
}

/** A folder that the user names. Outside of the project, its links must not lead out of itself. */
function namedPlace(folder: string, io: Io): FixturePlace {
  const project = folder === resolve(io.cwd) ? folder : (userProject(folder, io) ?? folder)
  return { folder, project, isNamed: true }
}

/** The failure that there is not a single case. */
function nothing(skipped: readonly string[] = [], unmade: readonly Unmade[] = []): Failure {
  const [first] = unmade
  const why =
    skipped.length > 0
      ? ': no tool says that it is read-only'
      : first === undefined
        ? ''
        : `: no inputs can be made for ${safeLine(first.tool)}: ${first.problem}`
  return new Failure(`there is nothing to test${why}`, {
    hint:
      skipped.length > 0
        ? 'Write fixtures/<tool>.json, or include all tools with --all if calls do no harm.'
        : 'Write fixtures/<tool>.json, or use --generate.',
    exit: EXIT.usage,
  })
}

interface Report {
  readonly cases: readonly TestCase[]
  readonly failed: number
  readonly skipped: readonly string[]
  readonly unmade: readonly Unmade[]
}

async function reportCases(
  { cases, failed, skipped, unmade }: Report,
  { output }: Pick<Invocation, 'output'>,
): Promise<void> {
  const generated = cases.filter(({ from }) => from === 'schema').length
  const fixtures = cases.length - generated
  const passed = cases.length - failed
  const { green, red } = output.colors
  await output.data({ passed, failed, fixtures, generated, skipped, unmade, cases }, () =>
    [
      ...cases.map(({ tool, name, problem, cause = [] }) =>
        problem === undefined
          ? `${green('✓')} ${safeLine(tool)}: ${safeLine(name)}`
          : [
              `${red('✗')} ${safeLine(tool)}: ${safeLine(name)}`,
              `    ${safeLine(problem, 500)}`,
              ...cause.map((each) => `      ${safeLine(each, 500)}`),
            ].join('\n'),
      ),
      ...unmade.map(
        ({ tool, count, problem }) =>
          `not made for ${safeLine(tool)}: ${counted(count, 'input')}: ${safeLine(problem, 500)}`,
      ),
      ...(skipped.length > 0
        ? [
            `not called, because they may change things: ${skipped.map((one) => safeLine(one)).join(', ')} (--all includes them)`,
          ]
        : []),
      `${passed} passed, ${failed} failed (${counted(fixtures, 'fixture')}, ${counted(generated, 'generated case')})`,
    ].join('\n'),
  )
}

async function reportUpdate(
  { cases, files: changed }: Awaited<ReturnType<typeof updateFixtures>>,
  files: readonly FixtureFile[],
  { io, output }: Pick<Invocation, 'io' | 'output'>,
): Promise<typeof EXIT.ok | typeof EXIT.checks> {
  const updated = cases.filter(({ problem }) => problem === undefined)
  const left = cases.filter(({ problem }) => problem !== undefined)
  const names = changed.map((file) => relative(io.cwd, file))
  const all = files.reduce((sum, { fixtures }) => sum + fixtures.length, 0)
  await output.data({ updated: updated.length, fixtures: all, files: changed, left }, () =>
    [
      ...left.map(
        ({ tool, name, problem = '' }) =>
          `${output.colors.red('✗')} ${safeLine(tool)}: ${safeLine(name)}\n    ${safeLine(problem, 500)}`,
      ),
      `Updated ${updated.length} of ${counted(all, 'fixture')}${names.length > 0 ? ` in ${names.map((one) => safeLine(one)).join(', ')}` : ''}.`,
      ...(left.length > 0
        ? ['Those with ✗ stay as they are. Change them by hand if this is what the tools should do.']
        : []),
    ].join('\n'),
  )
  return left.length > 0 ? EXIT.checks : EXIT.ok
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}
