import { Random } from './random.ts'

/** A thing to fuzz: how an input is made, and what must hold for it. */
export interface Target<Input = unknown> {
  readonly name: string
  /** Its share of a run over all targets. */
  readonly share: number
  /** What it keeps between inputs; made once per run. */
  start?(seed: number): void | Promise<void>
  /** Makes the input of an index; nothing but the random numbers and the index may decide on it. */
  make(random: Random, index: number): Input
  /** Throws when something does not hold. */
  check(input: Input): void | Promise<void>
  /** Smaller inputs to try after a finding. */
  shrink?(input: Input): Iterable<Input>
  end?(): void | Promise<void>
}

/** Hides the type of the inputs, so that targets stand in one list. */
export function target<Input>(given: Target<Input>): Target {
  return given as unknown as Target
}

export interface Finding {
  readonly target: string
  readonly seed: number
  readonly index: number
  readonly problem: string
  /** The smallest input that still shows it, as JavaScript. */
  readonly input: string
}

export interface Report {
  readonly target: string
  readonly inputs: number
  readonly seconds: number
  readonly findings: readonly Finding[]
}

export interface RunOptions {
  readonly seed: number
  readonly count: number
  /** The index to begin with. */
  readonly from?: number
  /** Stops after so many findings with different problems. */
  readonly most?: number
}

/** Fuzzes one target. The same seed, index and code give the same inputs. */
export async function run(of: Target, { seed, count, from = 0, most = 5 }: RunOptions): Promise<Report> {
  const begun = performance.now()
  const findings = new Map<string, Finding>()
  const stray: unknown[] = []
  const onStray = (thrown: unknown): void => void stray.push(thrown)
  process.on('unhandledRejection', onStray).on('uncaughtException', onStray)
  const traces = Error.stackTraceLimit
  // Most of what refusing costs is the trace of the error, which only a finding needs.
  Error.stackTraceLimit = 0
  await of.start?.(seed)
  let index = from
  try {
    for (; index < from + count && findings.size < most; index++) {
      const input = of.make(new Random(seed, of.name, index), index)
      const pending = attempt(of, input)
      let problem = pending instanceof Promise ? await pending : pending
      if (stray.length > 0) problem ??= `something was thrown that nobody caught: ${textOf(stray.pop())}`
      stray.length = 0
      if (problem === undefined || findings.has(kindOf(problem))) continue
      Error.stackTraceLimit = 20
      const small = await shrunk(of, input, kindOf(problem))
      const told = (await attempt(of, small)) ?? problem
      Error.stackTraceLimit = 0
      findings.set(kindOf(problem), { target: of.name, seed, index, problem: told, input: toSource(small) })
    }
  } finally {
    Error.stackTraceLimit = traces
    await of.end?.()
    await new Promise((resolve) => setImmediate(resolve))
    process.off('unhandledRejection', onStray).off('uncaughtException', onStray)
  }
  const seconds = (performance.now() - begun) / 1000
  return { target: of.name, inputs: index - from, seconds, findings: [...findings.values()] }
}

/** Says that something does not hold. */
export function claim(holds: boolean, problem: string): void {
  if (!holds) throw new Error(problem)
}

/** An input as JavaScript that makes it again. */
export function toSource(input: unknown): string {
  if (typeof input === 'string') return textSource(input)
  if (typeof input === 'bigint') return `${input}n`
  if (input instanceof Uint8Array)
    return `Buffer.from('${Buffer.from(input)
      .toString('latin1')
      .replace(
        /[^\x20-\x26\x28-\x5b\x5d-\x7e]/g,
        (letter) => `\\x${letter.charCodeAt(0).toString(16).padStart(2, '0')}`,
      )}', 'latin1')`
  if (Array.isArray(input)) return `[${input.map(toSource).join(', ')}]`
  if (typeof input !== 'object' || input === null) return Object.is(input, -0) ? '-0' : String(input)
  if (input instanceof Map) return `new Map(${toSource([...input])})`
  const members = Object.entries(input).map(
    ([key, value]) => `${key === '__proto__' ? '["__proto__"]' : textSource(key)}: ${toSource(value)}`,
  )
  return `{ ${members.join(', ')} }`
}

function textSource(text: string): string {
  // Letters that do not show, or not alone, are written out.
  return JSON.stringify(text).replace(
    /[^\x20-\x7e]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

function attempt(of: Target, input: unknown): string | undefined | Promise<string | undefined> {
  try {
    const pending = of.check(input)
    return pending instanceof Promise ? pending.then(() => undefined, textOf) : undefined
  } catch (thrown) {
    return textOf(thrown)
  }
}

function textOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  const place =
    thrown.stack
      ?.split('\n')
      .find((line) => line.includes('/src/'))
      ?.trim() ?? ''
  return thrown.constructor === Error ? thrown.message : `${thrown.name}: ${thrown.message} ${place}`
}

/** Problems that differ in details alone are one. */
function kindOf(problem: string): string {
  return problem
    .split(/[:"(\n]/, 1)[0]!
    .replace(/\d+/g, 'N')
    .slice(0, 80)
}

const TRIES = 400
const TRYING_MS = 10_000

async function shrunk(of: Target, input: unknown, kind: string): Promise<unknown> {
  const until = performance.now() + TRYING_MS
  let smallest = input
  for (let tries = 0, found = true; found && tries < TRIES;) {
    found = false
    for (const smaller of of.shrink?.(smallest) ?? shorter(smallest)) {
      if (++tries > TRIES || performance.now() > until) return smallest
      const problem = await attempt(of, smaller)
      if (problem === undefined || kindOf(problem) !== kind) continue
      smallest = smaller
      found = true
      break
    }
  }
  return smallest
}

/** The text or bytes without a part, large parts first. */
export function* shorter(input: unknown): Iterable<unknown> {
  if (typeof input !== 'string' && !(input instanceof Uint8Array)) return
  for (let size = Math.ceil(input.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < input.length; at += size) {
      if (typeof input === 'string') yield input.slice(0, at) + input.slice(at + size)
      else yield Buffer.concat([input.subarray(0, at), input.subarray(at + size)])
    }
  }
}
