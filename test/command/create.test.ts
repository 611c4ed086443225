import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { TEMPLATES } from '../../src/cli/scaffold.ts'
import { COMMAND, line, spawnLine, type Outcome } from './line.ts'
import { linkPackages, programFolder } from './program-folder.ts'

const URL_OF_DEV = 'http://127.0.0.1:3000/mcp'

/** Creates a project with an npm that only runs a line of shell. */
async function created(npm: string, ...args: readonly string[]): Promise<Outcome & { readonly cwd: string }> {
  const cwd = programFolder({})
  mkdirSync(join(cwd, 'bin'))
  writeFileSync(join(cwd, 'bin/npm'), `#!/bin/sh\n${npm}\n`)
  chmodSync(join(cwd, 'bin/npm'), 0o755)
  const env = { PORT: '3000', PATH: `${join(cwd, 'bin')}${delimiter}${process.env['PATH'] ?? ''}` }
  return { ...(await spawnLine(['create', ...args], { cwd, env })), cwd }
}

describe('create', () => {
  it.each(Object.entries(TEMPLATES))(
    'ends with three commands to go on with: the template %s',
    async (template, { tries }) => {
      const { code, stdout } = await created('exit 0', 'films', '--template', template, '--no-json')
      expect(code).toBe(0)
      expect(stdout.split('\n').filter((one) => one.startsWith('  '))).toEqual(
        ['cd films', ...tries].map((one) => `  ${one.replace('{url}', URL_OF_DEV)}`),
      )
      expect(tries).toHaveLength(2)
      expect(stdout.includes('a second terminal')).toBe(tries.includes('npm run dev'))
    },
  )

  it('names npm install among the commands if it was not run', async () => {
    const { stdout } = await created('exit 1', 'films', '--no-install', '--no-json')
    expect(stdout.split('\n').filter((one) => one !== '')).toEqual(
      [
        'Created films, without its packages. Next:',
        'cd films',
        'npm install',
        'npm run dev',
        `npx pierhead call ${URL_OF_DEV} add a=1 b=2`,
        'The last one is for a second terminal, in the same folder.',
      ].map((one, at) => (at === 0 || at === 5 ? one : `  ${one}`)),
    )
  })

  it.each([
    ['node_modules', 'npm does not accept "node_modules" as the name of a project'],
    ['Favicon.ico', 'npm does not accept "favicon.ico" as the name of a project'],
    ['x'.repeat(215), 'npm does not accept "xxx'],
    ['empty.txt', 'empty.txt is a file'],
    ['full', 'full already exists and is not empty'],
    ['/proc/pierhead/films', 'ENOENT'],
  ])('rejects the folder %s', { timeout: 60_000 }, async (name, problem) => {
    const cwd = programFolder({ 'empty.txt': '', 'full/a.txt': '' })
    // In a process of its own, since it must not loop.
    const { code, stderr } = await spawnLine(['create', name, '--no-install'], { cwd })
    expect(code).not.toBe(0)
    expect(stderr.replace(`${cwd}/`, '')).toContain(problem)
  })

  it('keeps the project if npm install fails, and shows why without control characters', async () => {
    const { code, stderr, cwd } = await created(
      "printf 'no \\033[31mnetwork\\033[0m' >&2; exit 3",
      'my server',
    )
    expect(code).toBe(1)
    expect(stderr).toContain('the project is in my server, but npm install failed:')
    expect(stderr).toMatch(/no .*network/)
    expect(stderr).not.toContain('\u001B')
    expect(stderr).toContain("cd 'my server' && npm install")
    expect(existsSync(join(cwd, 'my server/server.ts'))).toBe(true)
  })

  it('quotes a folder for the shell', async () => {
    const { stdout } = await created('exit 0', "ann's films")
    expect(JSON.parse(stdout)).toMatchObject({
      name: 'ann-s-films',
      next: ["cd 'ann'\\''s films'", 'npm run dev', expect.stringContaining(` ${URL_OF_DEV} `)],
    })
  })
})

describe.each(['minimal', 'http', 'tasks'])('the template %s', (template) => {
  it('has a module ./tools whose default export is its tools, with a fixture for each [S1-9-5] [S1-11-4]', async () => {
    const folder = programFolder({})
    await line(['create', 'home', '--no-install', '--template', template], { cwd: folder })
    const home = join(folder, 'home')
    linkPackages(home)
    const script = "import tools from './tools/index.ts'; console.log(JSON.stringify(Object.keys(tools)))"
    const { stdout } = spawnSync(
      process.execPath,
      [...COMMAND.slice(0, -1), '--input-type=module', '--eval', script],
      { cwd: home, encoding: 'utf8' },
    )
    const names = (JSON.parse(stdout) as readonly string[]).toSorted()
    expect(names).not.toEqual([])
    const { tools } = JSON.parse((await spawnLine(['list'], { cwd: home })).stdout) as {
      readonly tools: readonly { readonly name: string }[]
    }
    expect(tools.map(({ name }) => name).toSorted()).toEqual(names)
    expect(readdirSync(join(home, 'fixtures')).toSorted()).toEqual(names.map((name) => `${name}.json`))
    for (const name of names)
      expect(JSON.parse(readFileSync(join(home, 'fixtures', `${name}.json`), 'utf8'))).toContainEqual(
        expect.objectContaining({ input: expect.anything() }),
      )
    expect(JSON.parse((await spawnLine(['test'], { cwd: home })).stdout)).toMatchObject({ failed: 0 })
  })
})
