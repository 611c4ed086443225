/** The events of a soak, counted in bounded memory however long it runs. */
export class SoakRecord {
  requests = 0
  answers = 0
  lost = 0
  crossed = 0
  slowestMs = 0
  /** The number of expected events, by kind. */
  readonly expected: Map<string, number> = new Map()
  /** The number of unexpected events, by kind. */
  readonly unexpected: Map<string, number> = new Map()
  readonly #over: () => boolean

  /** `over` returns whether the server is being stopped; from then on nothing counts. */
  constructor(over: () => boolean) {
    this.#over = over
  }

  /** Waits for an answer with the token; after half a minute the answer counts as lost. */
  async call(kind: string, token: string, answer: Promise<unknown>): Promise<void> {
    this.requests++
    const began = performance.now()
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<Late>((resolve) => (timer = setTimeout(resolve, LOST_MS, LATE)))
    try {
      const text = await Promise.race([answer, late])
      if (text === LATE) return void this.lost++
      this.answers++
      this.slowestMs = Math.max(this.slowestMs, performance.now() - began)
      if (typeof text === 'string' && !text.startsWith(token)) this.crossed++
      else add(this.expected, kind)
    } catch (error) {
      this.answers++
      this.fail(kind, token, error)
    } finally {
      clearTimeout(timer)
    }
  }

  /** Counts a failure; it is expected if calls of this kind fail in this way. */
  fail(kind: string, token: string, error: unknown): void {
    if (this.#over()) return
    const { kind: how, name, message } = error as { kind?: string; name?: string; message?: string }
    const expected = FAILS.get(kind)
    if (expected?.has(how ?? name ?? '') !== true)
      return add(this.unexpected, `${kind}: ${how ?? name} ${message?.replaceAll(/[0-9a-f-]{8,}/g, '#')}`)
    if (kind === 'refuse' && message !== token) this.crossed++
    else add(this.expected, `${kind} (${how ?? name})`)
  }

  note(kind: string, ok: boolean): void {
    if (this.#over()) return
    add(ok ? this.expected : this.unexpected, kind)
  }
}

type Late = typeof LATE
const LATE = Symbol('late')
const LOST_MS = 30_000

/** The expected errors, by the kind of call. */
const FAILS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['refuse', new Set(['ToolError'])],
  ['break', new Set(['ToolError'])],
  ['cancel', new Set(['cancelled'])],
  ['unknown', new Set(['unknown_tool', 'bad_params'])],
])

function add(counts: Map<string, number>, kind: string): void {
  const key = counts.size < 200 || counts.has(kind) ? kind : 'and more'
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

/** The slope of values over minutes by least squares. */
export function slopePerMinute(
  samples: readonly { readonly atMs: number; readonly value: number }[],
): number {
  const count = samples.length
  if (count < 2) return 0
  const meanAt = samples.reduce((sum, { atMs }) => sum + atMs, 0) / count
  const mean = samples.reduce((sum, { value }) => sum + value, 0) / count
  const above = samples.reduce((sum, { atMs, value }) => sum + (atMs - meanAt) * (value - mean), 0)
  const below = samples.reduce((sum, { atMs }) => sum + (atMs - meanAt) ** 2, 0)
  return (above / below) * 60_000
}
