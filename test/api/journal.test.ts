import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createJournal } from '../../examples/journal/app.ts'
import { listenBehindProxy } from '../../examples/journal/site.ts'
import { connect } from '../../src/client.ts'
import { createServer } from '../../src/index.ts'

test('the journal opens its file when it starts, and closes it when it stops', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pierhead-journal-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'journal.txt')
  const app = createJournal(path)
  for (const text of ['one', 'two']) {
    const client = await connect(app)
    expect(await client.call('note', { text })).toBe('noted')
    await client.close()
  }
  expect(readFileSync(path, 'utf8')).toBe('one\ntwo\n')
})

test('behind a proxy, it is served under its public name', async () => {
  const app = createServer({ name: 'x', version: '1' }).tool('ip', {}, (_, { ip }) => `${ip}`)
  const url = (await listenBehindProxy(app, 0)) as string
  onTestFinished(() => app.close())
  const headers = { 'x-forwarded-host': 'mcp.example', 'x-forwarded-for': '203.0.113.7' }
  const client = await connect(url, { headers })
  expect(await client.call('ip', {})).toBe('203.0.113.7')
  await client.close()
  await expect(connect(url)).rejects.toThrow('127.0.0.1')
})

test('without its file, it does not listen', async () => {
  const app = createJournal(join(tmpdir(), 'no', 'such', 'folder', 'journal.txt'))
  await expect(app.listen({ http: { port: 0 } })).rejects.toThrow('ENOENT')
})
