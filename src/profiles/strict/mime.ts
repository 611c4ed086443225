import { mcpError } from '../../errors/error.ts'
import { UNSUPPORTED_TYPE } from '../../errors/profiles.ts'
import type { Choices } from '../../protocol/choices.ts'
import type { Checks } from '../checks.ts'

/** The known MIME types; vendor types are allowed too. */
const MIME_TYPES: ReadonlySet<string> = new Set([
  ...['plain', 'markdown', 'html', 'csv', 'xml'].map((name) => `text/${name}`),
  ...['png', 'jpeg', 'gif', 'webp', 'svg+xml'].map((name) => `image/${name}`),
  ...['wav', 'mpeg', 'aac', 'flac', 'ogg'].map((name) => `audio/${name}`),
  ...['json', 'xml', 'pdf', 'octet-stream'].map((name) => `application/${name}`),
])

interface Contents {
  readonly uri: string
  readonly mimeType?: string
}

/** Rejects contents of an unknown type. */
export function strictMime(choices: Choices): Checks | undefined {
  if (!choices.strictMime) return undefined
  return {
    middleware: {
      method: 'resources/read',
      async wrap(_, next) {
        const result = await next()
        for (const one of (result['contents'] ?? []) as readonly Contents[]) check(one)
        return result
      },
    },
  }
}

function check({ mimeType, uri }: Contents): void {
  if (mimeType === undefined || isKnown(mimeType)) return
  throw mcpError(UNSUPPORTED_TYPE, { type: mimeType.slice(0, 128), uri: uri.slice(0, 512) })
}

function isKnown(mimeType: string): boolean {
  const [type = ''] = mimeType.toLowerCase().split(';')
  return MIME_TYPES.has(type.trim()) || /^application\/vnd\.[\w.+-]+$/.test(type.trim())
}
