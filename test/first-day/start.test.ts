import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, posix, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect } from '../../src/client.ts'
import { build, isStale } from '../../tools/build.ts'
import { nodeBinary } from '../../tools/nodes.ts'
import { pack, type Packed } from '../../tools/package.ts'

const run = promisify(execFile)
const README = readFileSync('README.md', 'utf8')
const START = README.slice(README.indexOf('## Start'), README.indexOf('## Use it from an application'))

const folder = mkdtempSync(join(tmpdir(), 'first-day-'))
let packed: Packed

/** The pieces of a kind in a part of the README. */
function fences(kind: string, part: string): readonly string[] {
  return [...part.matchAll(new RegExp(`\`\`\`${kind}\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, text]) => text!)
}

/** Runs a line of the README in the folder, with this Node in front of all others. */
async function shell(line: string, node: string): Promise<string> {
  const env = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env['PATH']}`, NO_COLOR: '1' }
  const { stdout } = await run('sh', ['-c', line], { cwd: folder, env, timeout: 50_000 })
  return stdout
}

beforeAll(async () => {
  if (isStale()) await build()
  packed = pack(join(folder, 'packed'))
  const [setUp = ''] = fences('sh', START)
  const [init = '', install = ''] = setUp.trim().split('\n')
  if (install !== 'npm install pierhead zod') throw new Error(`the README says ${install}`)
  const zod = resolve('node_modules/zod')
  await shell(init, process.execPath)
  await shell(
    `npm install ${packed.path} ${zod} --prefer-offline --no-audit --no-fund --install-links`,
    process.execPath,
  )
  const [server = '', client = ''] = fences('ts', START)
  writeFileSync(join(folder, 'server.ts'), server)
  writeFileSync(join(folder, 'client.ts'), client)
}, 120_000)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the first example of the README, pasted into an empty folder', () => {
  const [, runs = ''] = fences('sh', START)
  const [expected = ''] = fences('', START.slice(START.indexOf('Run it:')).replace(/```sh[\s\S]*?```/, ''))

  test.each([22, 24])(
    'runs under Node %s',
    async (major) => {
      expect(await shell(runs.trim(), await nodeBinary(major))).toBe(expected)
    },
    120_000,
  )

  test('runs under Node 20 with esbuild', async () => {
    const client = readFileSync(join(folder, 'client.ts'), 'utf8')
    const [, command = ''] = /start the server with\s+`(\{[^`]+\})`/.exec(START) ?? []
    const older = client.replace(/\{ command[^}]+\}/, command)
    expect(older).not.toBe(client)
    writeFileSync(join(folder, 'older.ts'), older)
    const [, runsOlder = ''] = /On Node 20\.19, run `([^`]+)`/.exec(START) ?? []
    symlinkSync(resolve('node_modules/esbuild'), join(folder, 'node_modules/esbuild'))
    expect(await shell(runsOlder.replace('client.ts', 'older.ts'), process.execPath)).toBe(expected)
  })
})

describe('the configuration for', () => {
  const configs = [...README.matchAll(/<!-- config (\S+) -->\s+```json\n([\s\S]*?)```/g)].map(
    ([, name, text]) => [name!, text!] as const,
  )

  test('Claude Desktop and VS Code is there', () => {
    expect(configs.map(([name]) => name)).toEqual(['claude_desktop_config.json', '.vscode/mcp.json'])
  })

  test.each(configs)('%s', { timeout: 120_000 }, async (_, text) => {
    const placed = text.replace('${workspaceFolder}/', `${folder}/`).replace('/path/to/', `${folder}/`)
    const entries: Record<string, Record<string, Entry>> = JSON.parse(placed)
    const [, { weather }] = Object.entries(entries)[0]!
    expect(weather!.command).toBe('node')
    await using client = await connect({ ...weather!, command: await nodeBinary(24) })
    expect(await client.call('forecast', { city: 'Oslo' })).toEqual({ high: 8, low: 2 })
  })
})

type Entry = { readonly command: string; readonly args: string[] }

test('the README links only files that are in the package', () => {
  const links = [...README.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, path]) => posix.normalize(path!))
  expect(links.length).toBeGreaterThan(10)
  const missing = links.filter(
    (path) => !packed.files.some((file) => file === path || file.startsWith(`${path}/`)),
  )
  expect(missing).toEqual([])
})

test('the package says where it comes from', () => {
  const { repository, homepage, bugs } = JSON.parse(readFileSync('package.json', 'utf8')) as Record<
    string,
    unknown
  >
  expect(repository).toMatchObject({ type: 'git', url: expect.stringMatching(/^git\+https:.*\.git$/) })
  expect([homepage, bugs]).toEqual([
    expect.stringMatching(/^https:\/\//),
    expect.stringMatching(/^https:\/\//),
  ])
})
