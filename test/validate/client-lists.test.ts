import { test } from 'vitest'
import { CLIENT_CACHING_RULES } from '../../src/validate/client-rules/caching.ts'
import { CLIENT_LIST_RULES } from '../../src/validate/client-rules/lists.ts'
import { member } from '../../src/validate/message.ts'
import { E_ONLY } from '../../src/validate/rule.ts'
import type { ClientFault } from './client-fault.ts'
import { clientOutcomes, proveClient } from './prove-client.ts'
import { rawClient } from './raw-client.ts'

const FAULTS: readonly ClientFault[] = [
  { rule: 'R154', does: 'fetches references', quirk: 'fetches references' },
  {
    rule: 'R182',
    does: 'encodes cursors',
    message(message) {
      const cursor = member(message, 'params', 'cursor') as string | undefined
      if (cursor === undefined) return message
      const params = { ...(message['params'] as object), cursor: encodeURIComponent(cursor) }
      return { ...message, params }
    },
  },
  {
    rule: 'R182',
    does: 'takes an empty cursor for the end',
    revisions: E_ONLY,
    quirk: 'ends at an empty cursor',
  },
  { rule: 'R232', does: 'keeps results by their method', quirk: 'caches by method' },
  { rule: 'R233', does: 'keeps results of repeated requests', quirk: 'caches repeated requests' },
  { rule: 'R235', does: 'keeps results without a lifetime', quirk: 'caches without a lifetime' },
]

test.for(['2025-11-25', '2026-07-28'] as const)(
  'a client that reads only two pages is not blamed at %s',
  async (revision, { expect }) => {
    const rules = CLIENT_LIST_RULES.filter(({ id }) => id === 'R182')
    const client = rawClient({ rule: 'R182', does: 'reads two pages', quirk: 'reads two pages' })
    expect(await clientOutcomes(client, rules, { revision, transport: 'tcp' })).toMatchObject([
      { id: 'R182', is: 'unchecked' },
    ])
  },
)

proveClient('Lists of clients', [...CLIENT_LIST_RULES, ...CLIENT_CACHING_RULES], FAULTS)
