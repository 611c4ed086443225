import { mkdtempSync, rmSync } from 'node:fs'
import { createServer as createNetServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { build, isStale } from '../../tools/build.ts'
import { pack } from '../../tools/package.ts'
import { Terminal } from './terminal.ts'

let folder = ''
let archive = ''

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pierhead-terminal-'))
  if (isStale()) await build()
  archive = resolve(pack(join(folder, 'packed')).path)
}, 300_000)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A port that is free now. */
async function freePort(): Promise<number> {
  const server = createNetServer().listen(0, '127.0.0.1')
  await new Promise((listening) => server.once('listening', listening))
  const { port } = server.address() as AddressInfo
  await new Promise((closed) => server.close(closed))
  return port
}

test(
  'in a terminal, from an empty folder: create, dev, call, test and build, with what is printed [S1-11-1] [S1-11-2]',
  { timeout: 900_000 },
  async () => {
    const port = await freePort()
    using terminal = new Terminal('first', folder, { PORT: String(port), NO_COLOR: '1' })
    terminal.type(`npx --yes --package=${archive} create-mcp-server my-server`)
    const created = await terminal.shows(/Created my-server[^]*npx pierhead call add a=1 b=2/)
    expect(created).toContain('cd my-server')
    terminal.type('cd my-server')
    terminal.type('npx pierhead call add a=1 b=2; echo "code $?"')
    expect(await terminal.shows(/code \d/)).toMatch(/"sum": 3[^]*code 0/)

    using second = new Terminal('dev', join(folder, 'my-server'), { PORT: String(port), NO_COLOR: '1' })
    second.type('npm run dev')
    await second.shows(new RegExp(`http://127\\.0\\.0\\.1:${port}/mcp`))
    terminal.type(`npx pierhead call http://127.0.0.1:${port}/mcp add a=20 b=22; echo "code $?"`)
    await terminal.shows(/"sum": 42[^]*code 0/)
    await second.shows(/tools\/call\s+add/)
    second.press('C-c')
    await second.shows(/ending|\n\S*[$#] ?$/)

    terminal.type('npm test; echo "tested $?"')
    expect(await terminal.shows(/tested \d/)).toMatch(/2 passed, 0 failed[^]*tested 0/)
    terminal.type('npm run build; echo "built $?"')
    expect(await terminal.shows(/built \d/)).toMatch(/Built dist\/server\.js[^]*built 0/)
    terminal.type('npx pierhead call add a=1 b=1 -- node dist/server.js')
    await terminal.shows(/"sum": 2\b/)
  },
)

test('the terminal asks what a server asks', { timeout: 300_000 }, async () => {
  using terminal = new Terminal('asks', resolve('.'), { NO_COLOR: '1' })
  const server = join(import.meta.dirname, 'asking-server.ts')
  terminal.type(
    `node --import tsx --conditions=pierhead-source src/cli/main.ts call order -- node --import tsx --conditions=pierhead-source ${server}`,
  )
  await terminal.shows('Will you answer?')
  terminal.press('Enter')
  await terminal.shows('How many')
  terminal.type('many')
  await terminal.shows('Please type a whole number')
  for (let i = 0; i < 4; i++) terminal.press('BSpace')
  terminal.type('3')
  await terminal.shows('What colour')
  terminal.press('Down')
  terminal.press('Enter')
  expect(await terminal.shows(/ordered/)).toContain('ordered {"count":3,"colour":"blue"}')
})
