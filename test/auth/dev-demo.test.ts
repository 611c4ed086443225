import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { connect } from 'pierhead/client'

/** Starts the demo server as `npm start` does, and returns what it prints. */
async function startDemo(...flags: readonly string[]): Promise<string> {
  const args = ['--import', 'tsx', '--conditions=pierhead-source', 'examples/demo/server.ts', ...flags]
  const child = spawn(process.execPath, args, { env: { ...process.env, PORT: '0' } })
  onTestFinished(async () => {
    if (child.exitCode !== null) return
    child.kill('SIGTERM')
    await once(child, 'exit')
  })
  let text = ''
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()))
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
    text += chunk.toString()
    if (text.includes('Ctrl-C')) break
  }
  return text
}

test('the demo with --auth prints a login and a token that opens all but booking', async () => {
  const text = await startDemo('--auth')
  const url = /listening +(\S+)/.exec(text)?.[1] as string
  const token = /TOKEN=(\S+)/.exec(text)?.[1] as string
  expect(text).toMatch(/login +clients open a page of http:\/\/127\.0\.0\.1:\d+;/)
  expect(text).not.toContain('warning')
  await expect(connect(url)).rejects.toThrow('no credentials')
  await using client = await connect(url, { headers: { authorization: `Bearer ${token}` } })
  expect(await client.call('tide', { hour: 0 })).toEqual({ metres: 3, rising: true })
  await expect(client.call('book', { berth: 'B1' })).rejects.toThrow('harbour:book')
})

test('the demo without --auth needs no token', async () => {
  const text = await startDemo()
  expect(text).not.toContain('TOKEN')
  await using client = await connect(/listening +(\S+)/.exec(text)?.[1] as string)
  expect(await client.call('tide', { hour: 0 })).toEqual({ metres: 3, rising: true })
})
