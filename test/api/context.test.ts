import { expect, onTestFinished, test, vi } from 'vitest'
import { createRecords } from '../../examples/context/app.ts'
import { imported } from '../../examples/context/store.ts'
import { testClient, type TestClient } from '../../src/testing.ts'

async function open(sub: string, answers = {}): Promise<TestClient> {
  const printed = vi.spyOn(console, 'error').mockReturnValue()
  const client = await testClient(createRecords(), { auth: { sub }, answers })
  onTestFinished(async () => {
    await client.close()
    printed.mockRestore()
  })
  return client
}

test('the example imports, reports and logs for its user', async () => {
  const client = await open('bob')
  await client.setLogLevel('info')
  const steps: unknown[] = []
  const said = await client.call('import', { file: 'small' }, { onProgress: (step) => void steps.push(step) })
  expect(said).toBe('Imported 2 records for bob.')
  expect(steps).toMatchObject([
    { progress: 1, total: 2, message: 'Gull' },
    { progress: 2, total: 2, message: 'Tern' },
  ])
  expect(client.events.filter(({ kind }) => kind === 'log')).toMatchObject([
    { value: { level: 'warning', data: { message: 'an old record', name: 'Tern' } } },
  ])
  expect(vi.mocked(console.error).mock.calls).toEqual([
    [expect.stringMatching(/^[\da-f-]{36} bob "import" \d+ ms$/)],
  ])
})

test('the example stops importing when the client cancels', async () => {
  const client = await open('eve')
  const cancelling = new AbortController()
  const onProgress = (): void => cancelling.abort()
  const call = client.call('import', { file: 'large' }, { onProgress, signal: cancelling.signal })
  await expect(call).rejects.toMatchObject({ kind: 'cancelled' })
  const count = (): number => imported.get('eve')?.length ?? 0
  const before = count()
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  expect(count()).toBeLessThanOrEqual(before + 1)
  expect(count()).toBeLessThan(1000)
})

test('the example shows one tool to administrators only, and asks them', async () => {
  const names = async (client: TestClient): Promise<readonly string[]> => {
    const found: string[] = []
    for await (const { name } of client.tools()) found.push(name)
    return found
  }
  expect(await names(await open('bob'))).toEqual(['import'])
  await expect((await open('bob')).call('forget')).rejects.toThrow('does not exist')
  const elicit = [{ action: 'accept', content: { sure: true } }]
  const ada = await open('ada', { elicit })
  expect(await names(ada)).toEqual(['import', 'forget'])
  expect(await ada.call('forget')).toBe('Everything is gone.')
  await expect((await open('ada')).call('forget')).rejects.toThrow('cannot ask for confirmation')
})
