import { mkdtempSync, rmSync } from 'node:fs'
import { createServer as createNetServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { build, isStale } from '../../tools/build.ts'
import { pack } from '../../tools/package.ts'
import { Terminal } from './terminal.ts'
import { checkTranscript } from './transcript.ts'

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
  'in a terminal, from an empty folder: create, dev, call, test and build, with what is printed, as the guide shows it [S1-11-1] [S1-11-2]',
  { timeout: 900_000 },
  async () => {
    const port = await freePort()
    const env = { PORT: String(port), NO_COLOR: '1' }
    using terminal = new Terminal('first', folder, env)
    const shown: string[] = []
    shown.push(await terminal.run(`npx --yes --package=${archive} create-mcp-server my-server`))
    const commands = [...(shown[0] ?? '').matchAll(/^ {2}(\S.*)$/gm)].map(([, command = '']) => command)
    const url = `http://127.0.0.1:${port}/mcp`
    expect(commands).toEqual(['cd my-server', 'npm run dev', `npx pierhead call ${url} add a=1 b=2`])
    const [enter = '', serve = '', call = ''] = commands

    using second = new Terminal('dev', join(folder, 'my-server'), env)
    // What is typed before the shell is there is echoed twice.
    await second.shows('$')
    second.type(serve)
    const serving = await second.shows(/Ctrl-C ends it/)
    shown.push(await terminal.run(enter), await terminal.run(call))
    expect(shown.at(-1)).toContain('"sum": 3')
    await second.shows(/tools\/call add ok/)
    const [, listed = ''] = /call it: (.*)/.exec(serving) ?? []
    expect(serving).toMatch(new RegExp(`^ +npx pierhead call ${url} <tool> name=value$`, 'm'))
    expect(await terminal.run(listed)).toContain('add')
    await terminal.run("sed -i 's/two numbers/two numbers exactly/' tools/add.ts")
    const served = await second.shows(/reloaded; .*/)
    second.press('C-c')
    await second.shows(/\n\$$/)

    for (const command of ['npx pierhead test', 'npx pierhead build']) shown.push(await terminal.run(command))
    expect(await terminal.run('npm test; echo "tested $?"')).toMatch(/2 passed, 0 failed[^]*tested 0/)
    expect(await terminal.run('npm run build; echo "built $?"')).toMatch(/Built dist\/server\.js[^]*built 0/)
    // The image and the CI of the project install what its lock file says.
    expect(await terminal.run('npm ci --prefer-offline --no-audit; echo "installed $?"')).toContain(
      'installed 0',
    )
    expect(await terminal.run('npx pierhead call add a=1 b=1 -- node dist/server.js')).toContain('"sum": 2')

    const usual = (text: string): string =>
      text.replaceAll(`--yes --package=${archive}`, '-p pierhead').replaceAll(`:${port}/`, ':3000/')
    checkTranscript('first-server', usual(shown.join('\n')))
    checkTranscript('dev', usual(served))
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
