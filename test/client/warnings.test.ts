import { expect, test } from 'vitest'
import { connect } from '../../src/client.ts'
import { next } from './gather.ts'

/** A program that sends an error without an id for each call, whose message has line breaks, and then fails. */
const PROGRAM = `
const text = 'odd\\nINFO all is well\\r\\u2028\\u2029\\u0085\\u001b[2K\\ttext'
const write = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line)
  if (method === 'server/discover')
    return write({ id, result: { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {} } } })
  if (method === 'notifications/odd') return write({ error: { code: -32700, message: text } })
  console.error('first line\\nsecond line')
  setTimeout(() => process.exit(1), 50)
})`

test('a warning is one line without control characters, whatever the server sent', async () => {
  await using client = await connect(
    { command: process.execPath, args: ['-e', PROGRAM] },
    { recovery: false },
  )
  const warnings: string[] = []
  const lost = new Promise<void>((resolve) => {
    client.on('warning', (text) => {
      warnings.push(text)
      if (text.includes('exited')) resolve()
    })
  })
  const told = next(client, 'warning')
  await client.notify('notifications/odd')
  await told
  await expect(client.call('a')).rejects.toMatchObject({ kind: 'stream_lost' })
  await lost
  expect(warnings).toEqual([
    expect.stringContaining(
      String.raw`odd\nINFO all is well\u000d\u2028\u2029\u0085\u001b[2K\u0009text`,
    ) as string,
    expect.stringContaining(String.raw`its stderr:\n  first line\n  second line`) as string,
  ])
  for (const text of warnings) expect(text).toMatch(/^[^\p{Cc}\u2028\u2029]*$/u)
})
