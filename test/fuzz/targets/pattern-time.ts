import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { createInterface, type Interface } from 'node:readline'
import type { CostCurve } from '../../../src/schema/pattern-cost.ts'
import { parsePattern, type Tree } from '../../../src/schema/pattern-tree.ts'
import { provePattern } from '../../../src/schema/pattern.ts'
import { claim, target, type Target } from '../fuzz.ts'
import { anyPattern, stallingText } from '../patterns.ts'
import type { Random } from '../random.ts'

interface Input {
  readonly pattern: string
  readonly flags: string
  readonly text: string
  /** What the proof allows. */
  readonly steps: number
}

/** Long enough for a pattern that was proven wrong to take minutes. */
const MOST_CHARACTERS = 200_000
/** A second of processor time, and for each step twenty times what it takes; a match that was not proven takes far more. */
const START_MS = 1000
const STEP_MS = 0.0002
const MOST_STEPS = 2 ** 22
/** A match that takes longer than this is ended. */
const KILL_MS = 30_000

let child: Child | undefined

/** The engine itself takes no longer than was proven, for texts as long as are allowed. */
export const patternTimeTarget: Target = target<Input>({
  name: 'pattern-time',
  share: 0.3,
  make(random) {
    const { pattern, unicode, curve, tree } = provenPattern(random)
    let length = Math.min(MOST_CHARACTERS, curve.limit)
    while (curve.steps(length) > MOST_STEPS) length = Math.floor(length * 0.9)
    const text = stallingText(tree, random, length).slice(0, length)
    return { pattern, flags: unicode ? 'u' : '', text, steps: curve.steps(text.length) }
  },
  async check(input) {
    child ??= new Child()
    const ms = await child.time(input)
    if (ms === undefined) child = undefined
    claim(ms !== undefined, `the engine did not come to an end within ${KILL_MS} ms`)
    const most = START_MS + input.steps * STEP_MS
    claim(ms! < most, `the engine takes longer than was proven: ${ms} ms > ${most} ms`)
  },
  async end() {
    await child?.end()
    child = undefined
  },
})

interface Proven {
  readonly pattern: string
  readonly tree: Tree
  readonly unicode: boolean
  readonly curve: CostCurve
}

/** A pattern that passes, of which many tries are needed. */
function provenPattern(random: Random): Proven {
  for (;;) {
    const pattern = anyPattern(random)
    const verdict = provePattern(pattern)
    if (verdict.cost === 'unsafe') continue
    const tree = parsePattern(pattern, verdict.unicode)
    if (typeof tree !== 'string') return { pattern, tree, unicode: verdict.unicode, curve: verdict.curve }
  }
}

const PROGRAM = `
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { pattern, flags, text } = JSON.parse(line)
  const before = process.cpuUsage()
  try { new RegExp(pattern, flags).test(text) } catch {}
  const { user, system } = process.cpuUsage(before)
  console.log((user + system) / 1000)
})`

/** A process of its own, because nothing else ends a match. */
class Child {
  readonly #process: ChildProcessWithoutNullStreams = spawn(process.execPath, ['-e', PROGRAM])
  readonly #exited: Promise<unknown> = new Promise((resolve) => this.#process.once('close', resolve))
  readonly #lines: Interface = createInterface({ input: this.#process.stdout })

  /** The milliseconds that a match takes; undefined if it had to be ended. */
  async time({ pattern, flags, text }: Input): Promise<number | undefined> {
    const line = new Promise<number>((resolve) => void this.#lines.once('line', (ms) => resolve(Number(ms))))
    this.#process.stdin.write(`${JSON.stringify({ pattern, flags, text })}\n`)
    const timer = setTimeout(() => this.#process.kill('SIGKILL'), KILL_MS)
    const ms = await Promise.race([line, this.#exited.then(() => undefined)])
    clearTimeout(timer)
    return ms
  }

  async end(): Promise<void> {
    this.#process.stdin.end()
    await this.#exited
  }
}
