import { spawn } from 'node:child_process'
import { expect, onTestFinished, test } from 'vitest'

test('ten seconds of everything at once on every transport lose nothing, cross nothing and leave nothing behind [L5]', async () => {
  const soak = spawn(
    process.execPath,
    ['--import', 'tsx', '--conditions=pierhead-source', 'tools/soak.ts', '--seconds', '10'],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  onTestFinished(() => void soak.kill('SIGKILL'))
  let said = ''
  for (const stream of [soak.stdout, soak.stderr])
    stream.on('data', (chunk: Buffer) => (said += chunk.toString('utf8')))
  const code = await new Promise((resolve) => soak.once('close', resolve))
  expect(said).toMatch(/^lost +0\ncrossed +0$/m)
  expect(said.slice(said.indexOf('not as expected'))).toMatch(/^not as expected\n\n/)
  expect(/^the soak failed.*$/m.exec(said)?.[0]).toBeUndefined()
  expect(code).toBe(0)
}, 180_000)
