import { setImmediate } from 'node:timers/promises'
import type { Client, Tool } from 'pierhead/client'
import { generateCases } from '../validate/generated-cases.ts'
import { named, rewritten, type Expectation } from './fixture-update.ts'
import type { FixtureAnswers } from './fixture-answers.ts'
import { differenceOf, shown, type Fixture, type FixtureFile } from './fixtures.ts'
import { answerOf, type Answer } from './tool-answer.ts'
import { replaceFile } from './write-file.ts'

/** The server that is tested, and those of its tools that are meant. */
export interface Subject {
  readonly client: Client
  readonly tools: readonly Tool[]
  readonly signal: AbortSignal
  /** Answers what tools ask; undefined if no fixture has answers. */
  readonly answers?: FixtureAnswers | undefined
}

/** The outcome of one case. */
export interface TestCase {
  readonly tool: string
  readonly name: string
  readonly from: 'fixture' | 'schema'
  /** What is wrong; undefined if the case passed. */
  readonly problem: string | undefined
  /** The error of the program, and where it happened, if the problem has only a reference to it. */
  readonly cause?: readonly string[] | undefined
}

/** Takes the outcome of a case. */
export type Note = (one: TestCase) => Promise<void>

/** Inputs that should have been made from the schema of a tool. */
export interface Unmade {
  readonly tool: string
  readonly count: number
  readonly problem: string
}

const NO_TOOL = 'the server has no such tool'
const TOO_LATE = 'making inputs for the tools before it took too long; name it to test it alone'

/** Calls a tool with the inputs of its fixtures. */
export async function testFixtures(
  subject: Subject,
  { tool, fixtures }: FixtureFile,
  note: Note,
): Promise<void> {
  const isKnown = subject.tools.some(({ name }) => name === tool)
  for (const [i, fixture] of fixtures.entries()) {
    const problem = isKnown ? problemOf(fixture, await answerTo(fixture, tool, subject)) : NO_TOOL
    await note({ tool, name: nameOf(fixture, i), from: 'fixture', problem })
  }
}

/** What a tool does with a fixture. A question that the fixture does not answer is as bad as an error that nobody wanted. */
async function answerTo(
  { input, answers: given }: Fixture,
  tool: string,
  { client, signal, answers }: Subject,
): Promise<Answer> {
  answers?.begin(given)
  const answer = await answerOf(client, tool, input, signal)
  return answers?.problem === undefined ? answer : { kind: 'broken', error: answers.problem }
}

function nameOf({ name }: Fixture, index: number): string {
  return name ?? `fixture ${index + 1}`
}

/** Compares what a tool did with what a fixture expects. */
function problemOf({ output, error }: Fixture, answer: Answer): string | undefined {
  if (answer.kind === 'broken') return brokenBy(answer.error)
  if (answer.kind !== 'output') {
    if (error === undefined) return `it failed: ${answer.error}`
    return error === true || answer.error.includes(error) ? undefined : `its error is "${answer.error}"`
  }
  if (error !== undefined) return `it returned ${shown(answer.output)} instead of an error`
  return differenceOf(output, answer.output)
}

function brokenBy(error: string): string {
  return `the call went wrong, which is no error of the tool itself: ${error}`
}

/** The most time for making the inputs of all tools of a list. */
const MAKING_MS = 5_000

/**
 * Calls tools with cases from their schemas. Returns what was left out: the list may be hostile, so all tools share the time for making
 * inputs.
 */
export async function testGenerated(
  { client, tools, signal }: Subject,
  all: boolean,
  note: Note,
  makingMs: number = MAKING_MS,
): Promise<{ readonly skipped: readonly string[]; readonly unmade: readonly Unmade[] }> {
  const skipped: string[] = []
  const unmade: Unmade[] = []
  let leftMs = makingMs
  for (const { name: tool, inputSchema, annotations } of tools) {
    if (!all && annotations?.readOnlyHint !== true) {
      skipped.push(tool)
      continue
    }
    if (leftMs <= 0) {
      unmade.push({ tool, count: 0, problem: TOO_LATE })
      continue
    }
    // Ctrl-C and the end of --total reach the process only between tools.
    await setImmediate()
    signal.throwIfAborted()
    const began = performance.now()
    const { cases, dropped, problem } = generateCases(inputSchema)
    leftMs -= performance.now() - began
    if (problem !== undefined || dropped > 0)
      unmade.push({
        tool,
        count: dropped,
        problem: problem ?? 'none was found that fits; add examples to the schema',
      })
    for (const { name, input, isWrong } of cases) {
      const answer = await answerOf(client, tool, input, signal)
      await note({
        tool,
        name,
        from: 'schema',
        problem: isWrong ? wrongProblem(answer) : rightProblem(answer),
      })
    }
  }
  return { skipped, unmade }
}

/** What is wrong with the answer to an input that the schema rejects. */
function wrongProblem(answer: Answer): string | undefined {
  if (answer.kind === 'rejected') return undefined
  if (answer.kind === 'output') return 'it accepted an input that its schema rejects'
  if (answer.kind === 'broken') return brokenBy(answer.error)
  return `it did not reject an input that its schema rejects, but failed: ${answer.error}`
}

/** What is wrong with the answer to an input that the schema accepts. */
function rightProblem(answer: Answer): string | undefined {
  if (answer.kind === 'output' || answer.kind === 'failed') return undefined
  if (answer.kind === 'rejected') return `it rejected an input that its schema accepts: ${answer.error}`
  return brokenBy(answer.error)
}

/** Changes what fixtures expect where the tools answer something else. Returns the fixtures that differed, and the files that changed. */
export async function updateFixtures(
  subject: Subject,
  files: readonly FixtureFile[],
): Promise<{ readonly cases: readonly TestCase[]; readonly files: readonly string[] }> {
  const cases: TestCase[] = []
  const written: string[] = []
  for (const { file, tool, text, fixtures } of files) {
    const isKnown = subject.tools.some(({ name }) => name === tool)
    const changes = new Map<number, Expectation>()
    for (const [i, fixture] of fixtures.entries()) {
      const answer = isKnown ? await answerTo(fixture, tool, subject) : undefined
      const problem = answer === undefined ? NO_TOOL : problemOf(fixture, answer)
      if (problem === undefined) continue
      const change = answer && changeOf(fixture, answer)
      if (change !== undefined) changes.set(i, change)
      const name = nameOf(fixture, i)
      cases.push({ tool, name, from: 'fixture', problem: change === undefined ? problem : undefined })
    }
    if (changes.size === 0) continue
    replaceFile(file, rewritten(text, changes), 0o666)
    written.push(file)
  }
  return { cases, files: written }
}

/** What a fixture expects from now on; undefined if it must not change by itself, since the tool does something of another kind. */
function changeOf({ output, error }: Fixture, answer: Answer): Expectation | undefined {
  if (answer.kind === 'broken') return undefined
  const isNew = output === undefined && error === undefined
  if (answer.kind === 'output')
    return error === undefined ? { output: isNew ? answer.output : named(output, answer.output) } : undefined
  return error === undefined && !isNew ? undefined : { error: answer.error }
}
