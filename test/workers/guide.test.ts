import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/client.ts'
import { RoundRobin } from '../nodes/proxy.ts'

test('the server of the guide keeps a session whichever process serves it, and says its address once', async () => {
  const file = fileURLToPath(new URL('guide-server.ts', import.meta.url))
  const args = ['--import', 'tsx', '--conditions=pierhead-source', file]
  const child = spawn(process.execPath, args, {
    env: { ...process.env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  const lines: string[] = []
  const reader = createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
  await once(reader, 'line')
  const url = lines[0]?.replace('serving ', '') as string
  const proxy = await new RoundRobin([Number(new URL(url).port)]).listen()
  const client = await connect(proxy.url, { revision: '2025-11-25' })
  onTestFinished(async () => {
    await client.close()
    await proxy.close()
    child.kill('SIGKILL')
  })
  for (let count = 1; count <= 5; count++) expect(await client.call('count')).toBe(String(count))
  child.kill('SIGTERM')
  expect(await exited).toEqual([0, null])
  expect(lines).toHaveLength(1)
})
