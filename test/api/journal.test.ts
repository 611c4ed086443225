import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createJournal } from '../../examples/journal/app.ts'
import { connect } from '../../src/client.ts'

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

test('without its file, it does not listen', async () => {
  const app = createJournal(join(tmpdir(), 'no', 'such', 'folder', 'journal.txt'))
  await expect(app.listen({ http: { port: 0 } })).rejects.toThrow('ENOENT')
})
