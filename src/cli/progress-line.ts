import type { Progress } from 'pierhead/client'
import type { Output } from './output.ts'
import { safeLine } from './safe-text.ts'

const WIDTH = 24

/** Shows the progress of a call in the status line, on a terminal only. */
export function progressLine(output: Output): ((progress: Progress) => void) | undefined {
  if (!output.isWatched) return undefined
  return ({ progress, total, message = '' }) => {
    const words = typeof message === 'string' ? safeLine(message, 80) : ''
    output.status(`${total === undefined ? count(progress) : bar(progress, total)} ${words}`)
  }
}

function count(progress: number): string {
  return Number.isFinite(progress) ? `${progress}` : ''
}

function bar(progress: number, total: number): string {
  const part = total > 0 ? Math.min(1, Math.max(0, progress / total)) : 0
  const full = Math.round(part * WIDTH)
  return `${'█'.repeat(full)}${'░'.repeat(WIDTH - full)} ${Math.round(part * 100)} %`
}
