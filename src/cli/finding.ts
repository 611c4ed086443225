import { safe } from './safe-text.ts'

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

/** Collects findings. Their texts may come from a server or a file; they are made safe here. */
export class Findings {
  readonly list: Finding[] = []

  ok(text: string): void {
    this.list.push({ level: 'ok', text: safe(text) })
  }

  advise(text: string, fix: string): void {
    this.list.push({ level: 'advice', text: safe(text), fix: safe(fix) })
  }

  problem(text: string, fix: string): void {
    this.list.push({ level: 'problem', text: safe(text), fix: safe(fix) })
  }

  /** Adds the findings of a list, and only counts what is too much to read. */
  addAll(found: readonly Finding[]): void {
    for (const { level, text, fix } of found.slice(0, MOST))
      this.list.push({ level, text: safe(text), ...(fix !== undefined && { fix: safe(fix) }) })
    const more = found.length - MOST
    if (more > 0)
      this.list.push({
        level: found.slice(MOST).some(({ level }) => level === 'problem') ? 'problem' : 'advice',
        text: `${more} more like these`,
        fix: 'Correct those above, and check again.',
      })
  }
}
