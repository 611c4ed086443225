import { expect, test } from 'vitest'
import { connect } from '../../src/client.ts'
import { CLIENT_HTTP_MODERN_RULES } from '../../src/validate/client-rules/http-modern.ts'
import { CLIENT_HTTP_RULES } from '../../src/validate/client-rules/http.ts'
import { member } from '../../src/validate/message.ts'
import type { StartableClient } from '../../src/validate/client/program.ts'
import type { ClientFault } from './client-fault.ts'
import { clientOutcomes, proveClient } from './prove-client.ts'

type Headers = Readonly<Record<string, string>>

function dropped(name: string): (headers: Headers) => Headers {
  return (headers) => Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name))
}

function changed(name: string, change: (value: string) => string): (headers: Headers) => Headers {
  return (headers) => (headers[name] === undefined ? headers : { ...headers, [name]: change(headers[name]) })
}

const FAULTS: readonly ClientFault[] = [
  { rule: 'R073', does: 'accepts JSON only', headers: changed('accept', () => 'application/json') },
  { rule: 'R078', does: 'reads only JSON', quirk: 'reads only JSON' },
  { rule: 'R078', does: 'reads only streams', quirk: 'reads only streams' },
  { rule: 'R083', does: 'forgets the session id', headers: dropped('mcp-session-id') },
  {
    rule: 'R083',
    does: 'leaves the session id out of DELETE',
    headers: (headers, method) => (method === 'DELETE' ? dropped('mcp-session-id')(headers) : headers),
  },
  { rule: 'R086', does: 'gives up without a session', quirk: 'gives up without a session' },
  {
    rule: 'R086',
    does: 'keeps the old session id',
    headers: (headers, _method, message) =>
      message?.['method'] === 'initialize'
        ? { ...headers, 'mcp-session-id': 'validator-session-1' }
        : headers,
  },
  { rule: 'R087', does: 'never deletes its session', quirk: 'never deletes' },
  { rule: 'R088', does: 'leaves out the version', headers: dropped('mcp-protocol-version') },
  { rule: 'R095', does: 'never resumes', quirk: 'never resumes' },
  { rule: 'R095', does: 'does not wait', quirk: 'resumes at once' },
  { rule: 'R095', does: 'never opens its stream again', quirk: 'never listens again' },
  { rule: 'R095', does: 'opens its stream again at once', quirk: 'listens again at once' },
  { rule: 'R100', does: 'ignores the endpoint', quirk: 'ignores the endpoint' },
]

const MODERN_FAULTS: readonly ClientFault[] = [
  { rule: 'R111', does: 'leaves out the version', headers: dropped('mcp-protocol-version') },
  {
    rule: 'R111',
    does: 'has another version in the header',
    headers: changed('mcp-protocol-version', () => '2025-11-25'),
  },
  { rule: 'R112', does: 'leaves out the method', headers: dropped('mcp-method') },
  { rule: 'R113', does: 'leaves out the name', headers: dropped('mcp-name') },
  { rule: 'R113', does: 'changes the name', headers: changed('mcp-name', (value) => value.toUpperCase()) },
  {
    rule: 'R115',
    does: 'knows header names in small letters only',
    quirk: 'knows header names in small letters only',
  },
  {
    rule: 'R116',
    does: 'percent-encodes names',
    headers: changed('mcp-name', (value) =>
      value === '=?base64?Z3LDvMOfZQ==?=' ? encodeURIComponent('grüße') : value,
    ),
  },
  {
    rule: 'R117',
    does: 'does not encode what looks encoded',
    headers: (headers, _method, message) =>
      member(message, 'params', 'name') === '=?base64?c2hpcA==?='
        ? { ...headers, 'mcp-name': '=?base64?c2hpcA==?=' }
        : headers,
  },
  { rule: 'R118', does: 'leaves out a header', headers: dropped('mcp-param-days') },
  {
    rule: 'R118',
    does: 'sends headers for absent arguments',
    headers: (headers, _method, message) =>
      member(message, 'params', 'name') === 'weather' ? { ...headers, 'mcp-param-note': 'null' } : headers,
  },
  { rule: 'R119', does: 'calls tools with bad headers', quirk: 'calls tools with bad headers' },
  { rule: 'R119', does: 'drops good tools too', quirk: 'drops good tools' },
  { rule: 'R121', does: 'never lists again', quirk: 'never lists again' },
  { rule: 'R128', does: 'resumes lost requests', quirk: 'resumes lost requests' },
  {
    rule: 'R128',
    does: 'repeats lost requests with the same id',
    quirk: 'sends lost requests again with the same id',
  },
  { rule: 'R132', does: 'breaks on comments', quirk: 'breaks on comments' },
]

proveClient('HTTP of clients', CLIENT_HTTP_RULES, FAULTS)
proveClient('HTTP of clients at 2026-07-28', CLIENT_HTTP_MODERN_RULES, MODERN_FAULTS)

test.each([
  ['that no server lists', ['nothing_listed']],
  ['that it knows by its name', ['add_numbers']],
])('a client that calls only a tool %s is not blamed for the others', async (_, names) => {
  const client: StartableClient = {
    async start({ url = '' }) {
      const ended = (async (): Promise<string> => {
        const opened = await connect(url, { revision: '2026-07-28' })
        for (const name of names) await opened.call(name, { a: 1, b: 2 }).catch(() => undefined)
        await opened.close()
        return 'it ended'
      })()
      return { ended, stop: async () => void (await ended) }
    },
  }
  const rules = CLIENT_HTTP_MODERN_RULES.filter(({ id }) => id === 'R119')
  const [outcome] = await clientOutcomes(client, rules, { revision: '2026-07-28', transport: 'http' })
  expect(outcome).toMatchObject({ is: 'unchecked' })
})
