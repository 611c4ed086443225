import { join } from 'node:path'
import process from 'node:process'
import { expect, test } from 'vitest'
import { line } from '../command/line.ts'

const CLIENT = join(import.meta.dirname, 'programs', 'v1-client.mjs')

test('a client is started with a URL, and its report names the revision and the transport', async () => {
  const { code, stdout } = await line([
    'validate',
    '--client',
    '--target',
    '2025-11',
    '--rule',
    'R030',
    '--rule',
    'R088',
    '--no-json',
    '--',
    process.execPath,
    CLIENT,
  ])
  expect(stdout).toContain('http: 2025-11-25')
  expect(stdout).toContain('2 passed, 0 failed')
  expect(code).toBe(0)
}, 30_000)

test('{command} makes a client start a server over stdio', async () => {
  const { code, stdout } = await line([
    'validate',
    '--client',
    '--target',
    '2025-06',
    '--rule',
    'R062',
    '--json',
    '--',
    process.execPath,
    CLIENT,
    '{command}',
  ])
  expect(JSON.parse(stdout)).toMatchObject({
    outcomes: [{ id: 'R062', role: 'client', transport: 'stdio', revision: '2025-06-18', is: 'passed' }],
  })
  expect(code).toBe(0)
}, 30_000)

test('a broken rule ends the command with 8, and shows the exchange', async () => {
  const { code, stdout } = await line([
    'validate',
    '--client',
    '--target',
    '2025-03',
    '--rule',
    'R013',
    '--no-json',
    '--',
    process.execPath,
    CLIENT,
  ])
  expect(stdout).toMatch(/✗ R013 .*\n {2}the client does not answer the requests in a batch/)
  expect(stdout).toContain('"method":"ping"')
  expect(code).toBe(8)
}, 30_000)

test.each([
  [['--client'], '--client needs the client after --'],
  [['http://localhost:1/mcp', '--client', '--', 'node', 'x.js'], 'is a server'],
  [['--client', '--server-url', 'http://localhost:1/mcp', '--', 'node', 'x.js'], 'is a server'],
  [['--client', '--allow-calls', '--', 'node', 'x.js'], '--allow-calls is for servers'],
  [['--transport', 'ws', 'http://localhost:1/mcp'], '--transport is for clients'],
  [
    ['--client', '--rule', 'R999', '--target', '2025-11', '--', process.execPath, CLIENT],
    'no rule with this id applies',
  ],
])('validate %j is a wrong command line', async (args, message) => {
  const { code, stderr } = await line(['validate', ...args])
  expect(stderr).toContain(message)
  expect(code).toBe(2)
})

test('a client that cannot be started or sends nothing is unreachable, and the reason is named', async () => {
  const missing = await line(['validate', '--client', '--', 'no-such-client-of-anybody'])
  expect(missing.stderr).toContain('no-such-client-of-anybody')
  expect(missing.code).not.toBe(0)
  const mute = await line([
    'validate',
    '--client',
    '--target',
    '2025-11',
    '--',
    process.execPath,
    '-e',
    'process.exit(3)',
  ])
  expect(mute.stderr).toContain('the client sent nothing: exited with code 3')
  expect(mute.stderr).toContain('{url}')
})
