import { describe, expect, onTestFinished, test } from 'vitest'
import { connect, ToolError, type Client } from '../../src/client.ts'

/** What each program of the migration guide can do besides what all do. */
const PROGRAMS = {
  'official-v1': { lists: true, structures: true, reports: true },
  'official-v2': { lists: true, structures: true, reports: false },
  fastmcp: { lists: false, structures: false, reports: true },
  pierhead: { lists: true, structures: true, reports: true },
}

async function start(program: string): Promise<Client> {
  const args = ['--import', 'tsx', '--conditions', 'pierhead-source', `examples/migrating/${program}.ts`]
  const client = await connect({ command: process.execPath, args })
  onTestFinished(() => client.close())
  return client
}

describe.each(Object.entries(PROGRAMS))('the notes of %s', (program, { lists, structures, reports }) => {
  test('are added, listed and read', async () => {
    const client = await start(program)
    const steps: unknown[] = []
    const onProgress = ({ progress }: { readonly progress?: number | undefined }): void =>
      void steps.push(progress)
    const added = await client.call('add', { text: 'Paint the boat' }, { onProgress })
    expect(added).toEqual(structures ? { id: '2' } : '{"id":"2"}')
    expect(steps).toEqual(reports ? [1] : [])
    const uris: string[] = []
    for await (const { uri } of client.resources()) uris.push(uri)
    expect(uris).toEqual(lists ? ['notes://1', 'notes://2'] : [])
    expect(await client.read('notes://2')).toMatchObject({
      contents: [{ uri: 'notes://2', mimeType: 'text/plain', text: 'Paint the boat' }],
    })
  })

  test('complete their ids, and can be summarised', async () => {
    const client = await start(program)
    const found = await client.complete('notes://{id}', { name: 'id', value: '' })
    expect(found.values).toEqual(['1'])
    const { messages } = await client.prompt('summarise', { id: '1' })
    expect(messages).toMatchObject([{ role: 'user', content: { text: 'Summarise note 1.' } }])
  })

  test('are not empty', async () => {
    const client = await start(program)
    const empty = client.call('add', { text: '' })
    await expect(empty).rejects.toBeInstanceOf(ToolError)
    await expect(empty).rejects.toThrow('The note is empty.')
  })
})
