import { existsSync, readdirSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { failureOf, wrongUsage } from './failure.ts'
import type { Surroundings } from './project-files.ts'
import { readText } from './read-text.ts'
import { foreignPart, ownedText, trustHint } from './trust.ts'
import { realProjectFile } from './write-file.ts'

/** How a fixture answers the questions of its tool: values by field, or as `--answer accept` and `--answer decline` do. */
export type GivenInFixture = Readonly<Record<string, unknown>> | 'accept' | 'decline'

/** One input of a tool, and what the tool must do with it. */
export interface Fixture {
  readonly name?: string | undefined
  readonly input: Readonly<Record<string, unknown>>
  /** What the user answers if the tool asks. */
  readonly answers?: GivenInFixture | undefined
  /** What a call returns: structured content, text, or a list of blocks. */
  readonly output?: unknown
  /** The call must fail: in any way, or with a message that contains this text. */
  readonly error?: true | string | undefined
}

/** The fixtures of one tool. */
export interface FixtureFile {
  readonly file: string
  readonly tool: string
  /** What the file has. */
  readonly text: string
  readonly fixtures: readonly Fixture[]
}

const MOST_BYTES = 20_000_000

/** The folder of fixtures, and what is known of those who wrote it. */
export interface FixturePlace {
  readonly folder: string
  /** The folder out of which no link may lead. */
  readonly project: string
  /** Whether the user named the folder, which may then belong to anybody. */
  readonly isNamed: boolean
}

/** Reads `fixtures/<tool>.json` of a folder, in the order of the names. */
export function readFixtures(
  { folder, project, isNamed }: FixturePlace,
  { cwd, env }: Surroundings,
): readonly FixtureFile[] {
  if (!isFolder(folder)) return []
  if (!isNamed) checkOwner(folder, project, env)
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .toSorted()
    .map((name) => {
      const path = join(folder, name)
      const shown = relative(cwd, path)
      const file = placeOf(path, project, env)
      if (!isNamed) checkOwner(path, project, env)
      const text = textOf(file, shown)
      return { file, tool: name.slice(0, -'.json'.length), text, fixtures: fixturesIn(text, shown) }
    })
}

/** The file that a fixture is, which --update also writes. */
function placeOf(path: string, project: string, env: Surroundings['env']): string {
  try {
    return realProjectFile(path, project, { env })
  } catch (error) {
    const { message, hint } = failureOf(error)
    throw wrongUsage(message, hint)
  }
}

function checkOwner(path: string, project: string, env: Surroundings['env']): void {
  const foreign = foreignPart(path, project, { env })
  if (foreign !== undefined)
    throw wrongUsage(
      `${path} was not read, because ${ownedText(path, foreign)}`,
      `If you trust the fixtures, name their folder: --fixtures fixtures, or set ${trustHint(foreign)}`,
    )
}

export function isFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory()
}

const EXPECTED = 'Write a list: [{ "input": { "a": 1 }, "output": { "sum": 2 } }], or "error": true.'

function textOf(file: string, shown: string): string {
  try {
    return readText(file, MOST_BYTES) ?? ''
  } catch (error) {
    throw wrongUsage(`${shown} cannot be used: ${(error as Error).message}`, EXPECTED)
  }
}

function fixturesIn(text: string, shown: string): readonly Fixture[] {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw wrongUsage(`${shown} cannot be used: ${(error as Error).message}`, EXPECTED)
  }
  if (!Array.isArray(value)) throw wrongUsage(`${shown} is not a list`, EXPECTED)
  for (const [i, one] of value.entries()) {
    const { input, error, answers } = (one ?? {}) as Partial<Record<keyof Fixture, unknown>>
    if (typeof input !== 'object' || input === null || Array.isArray(input))
      throw wrongUsage(`${shown}: fixture ${i + 1} has no input`, EXPECTED)
    if (error !== undefined && error !== true && typeof error !== 'string')
      throw wrongUsage(`${shown}: the error of fixture ${i + 1} is neither true nor a text`, EXPECTED)
    if (answers !== undefined && !isPlainObject(answers) && answers !== 'accept' && answers !== 'decline')
      throw wrongUsage(
        `${shown}: the answers of fixture ${i + 1} are neither an object nor "accept" or "decline"`,
        'Write the values by field: "answers": { "colour": "red" }.',
      )
  }
  return value as readonly Fixture[]
}

/** A value in an error message: as JSON, and not too long. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text
}

const LONGEST = 500

export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether a value has everything that is expected: objects may have more members than expected, lists may not. */
export function differenceOf(expected: unknown, got: unknown, path: string = 'output'): string | undefined {
  if (Array.isArray(expected)) {
    if (!Array.isArray(got)) return `${path} is not a list`
    if (expected.length !== got.length) return `${path} has ${got.length} items instead of ${expected.length}`
    for (const [i, item] of expected.entries()) {
      const found = differenceOf(item, got[i], `${path}[${i}]`)
      if (found !== undefined) return found
    }
    return undefined
  }
  if (isPlainObject(expected)) {
    if (!isPlainObject(got)) return `${path} is not an object`
    for (const [name, value] of Object.entries(expected)) {
      if (!Object.hasOwn(got, name)) return `${path}.${name} is missing`
      const found = differenceOf(value, got[name], `${path}.${name}`)
      if (found !== undefined) return found
    }
    return undefined
  }
  return Object.is(expected, got) ? undefined : `${path} is ${shown(got)} instead of ${shown(expected)}`
}
