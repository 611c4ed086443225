import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { run } from './run.ts'

/** A repository with the test script, the configuration and the reporter of this one, and two tests of two sources. */
function plant(): string {
  const root = mkdtempSync(join(tmpdir(), 'pierhead-changed-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
  for (const folder of ['src', 'tools']) mkdirSync(join(root, folder))
  const files: Readonly<Record<string, string>> = {
    'package.json': JSON.stringify({ type: 'module', scripts: { test: scripts.test } }),
    '.gitignore': 'node_modules\n.cache\n',
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text)
  for (const name of ['one', 'two']) {
    writeFileSync(join(root, 'src', `${name}.ts`), `export const ${name}: string = '${name}'\n`)
    writeFileSync(
      join(root, 'src', `${name}.test.ts`),
      `import { expect, test } from 'vitest'\nimport { ${name} } from './${name}.ts'\ntest('${name} is right', () => expect(${name}).toBe('${name}'))\n`,
    )
  }
  for (const name of ['vitest.config.ts', 'tools/reporter.ts']) cpSync(name, join(root, name))
  symlinkSync(resolve('node_modules'), join(root, 'node_modules'))
  const git = (...args: readonly string[]): string =>
    run('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.example', ...args], root)
  git('init', '--quiet')
  git('add', '.')
  git('commit', '--quiet', '--message', 'begin')
  return root
}

interface Tested {
  readonly status: number | null
  readonly text: string
}

function tested(root: string, ...words: readonly string[]): Tested {
  // The variables of this run of the tests are not for another.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(?:VITEST|TEST|NODE_ENV)/.test(name)),
  )
  const { status, stdout, stderr } = spawnSync('npm', ['test', '--', ...words], {
    cwd: root,
    encoding: 'utf8',
    env: { ...env, NO_COLOR: '1' },
  })
  return { status, text: stdout + stderr }
}

test('npm test -- --changed runs the tests of what changed, and nothing else [S2-14-5]', () => {
  const root = plant()
  expect(tested(root)).toEqual({ status: 0, text: expect.stringContaining('2 passed, 0 failed') })
  const unchanged = tested(root, '--changed')
  expect(unchanged).toEqual({ status: 0, text: expect.stringContaining('0 passed, 0 failed') })

  writeFileSync(join(root, 'src/one.ts'), `export const one: string = 'one'\nexport const more = 1\n`)
  const one = tested(root, '--changed')
  expect(one).toEqual({ status: 0, text: expect.stringContaining('1 passed, 0 failed') })
  expect(one.text).toContain('src/one.test.ts')
  expect(one.text).not.toContain('src/two.test.ts')

  writeFileSync(join(root, 'src/two.ts'), `export const two: string = 'three'\n`)
  expect(tested(root, '--changed')).toEqual({
    status: 1,
    text: expect.stringContaining('1 passed, 1 failed'),
  })
})
