import { safe, safeLine } from './safe-text.ts'

/** What a check found. */
export interface Finding {
  /** `problem` is wrong, `advice` could be better, `ok` is as it should be. */
  readonly level: 'ok' | 'advice' | 'problem'
  readonly text: string
  /** What to do about it. */
  readonly fix?: string | undefined
}

/** The most findings of one kind that are listed. */
const MOST = 20

/** Collects findings. Their texts may come from a server or a file; they are made safe here, and `redact` hides secrets. */
export class Findings {
  readonly list: Finding[] = []
  readonly #redact: (text: string) => string
  readonly #onStep: (text: string) => void

  constructor(
    redact: (text: string) => string = (text) => text,
    onStep: (text: string) => void = () => undefined,
  ) {
    this.#redact = redact
    this.#onStep = onStep
  }

  /** Says what is checked now, which may take some seconds. */
  step(text: string): void {
    this.#onStep(safeLine(this.#redact(text), 200))
  }

  /** A text of a server without secrets. Ask for it before you cut the text, or else a part of a secret stays. */
  redacted(text: string): string {
    return this.#redact(text)
  }

  ok(text: string): void {
    this.#add('ok', text)
  }

  advise(text: string, fix: string): void {
    this.#add('advice', text, fix)
  }

  problem(text: string, fix: string): void {
    this.#add('problem', text, fix)
  }

  #add(level: Finding['level'], text: string, fix?: string): void {
    const shown = (one: string): string => safe(this.#redact(one))
    this.list.push({ level, text: shown(text), ...(fix !== undefined && { fix: shown(fix) }) })
  }

  /** Adds the findings of a list, and only counts what is too much to read. */
  addAll(found: readonly Finding[]): void {
    for (const { level, text, fix } of found.slice(0, MOST)) this.#add(level, text, fix)
    const more = found.length - MOST
    if (more > 0)
      this.list.push({
        level: found.slice(MOST).some(({ level }) => level === 'problem') ? 'problem' : 'advice',
        text: `${more} more like these`,
        fix: 'Correct those above, and check again.',
      })
  }
}
