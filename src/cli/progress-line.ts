import type { Progress } from 'pierhead/client'
import type { Io } from './io.ts'
import type { Output } from './output.ts'
import { safeLine } from './safe-text.ts'
import { cutToWidth } from './text-width.ts'

/** The columns of the bar, and of one in a narrow terminal. */
const [WIDTH, SHORT] = [24, 10]

/** Shows the progress of a call in the status line, on a terminal only. It never needs a second line, which nothing would clear. */
export function progressLine(
  output: Output,
  io: Pick<Io, 'stderr'>,
): ((progress: Progress) => void) | undefined {
  if (!output.isWatched) return undefined
  return ({ progress, total, message = '' }) => {
    // The size of a terminal may change.
    const columns = io.stderr.columns ?? 80
    const bars = columns < 60 ? SHORT : WIDTH
    const words = typeof message === 'string' ? safeLine(message, 500) : ''
    const shown = total === undefined ? count(progress) : bar(progress ?? 0, total, bars)
    output.status(cutToWidth(`${shown} ${words}`.trimStart(), columns - 1))
  }
}

function count(progress: number | undefined): string {
  return Number.isFinite(progress) ? `${progress}` : ''
}

function bar(progress: number, total: number, width: number): string {
  const part = total > 0 ? Math.min(1, Math.max(0, progress / total)) : 0
  const full = Math.round(part * width)
  return `${'█'.repeat(full)}${'░'.repeat(width - full)} ${Math.round(part * 100)} %`
}
