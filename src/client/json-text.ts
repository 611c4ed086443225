import { CLIENT_LIMITS } from '../protocol/client-limits.ts'
import { scanFully } from '../wire/full-scan.ts'
import { exceedsValues } from '../wire/values.ts'

const { depth, values } = CLIENT_LIMITS

/** The value that a text describes as JSON; the text itself if it is not JSON, or holds more than a message may. */
export function readJson(text: string): unknown {
  if (exceedsValues(text, values.usual) || scanFully(text, depth.usual)?.kind === 'deep') return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
