import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'

const SLOW = { timeout: 180_000 }
const GOOD = '1 passed, 0 failed'
const CHECKED = '7 messages checked against schemas, 0 could not be checked'

describe('.ci/run', () => {
  test('fails when a test that proves an id or covers a case is removed', SLOW, () => {
    const root = plantProject()
    writeTest(root, 'one', `one ${mark('S0-1')}`)
    writeTest(root, 'two', `H.odd two ${mark('S0-2')}`)
    writeTest(root, 'again', `one again ${mark('S0-1')}`)
    runIn(root, 'npm', 'test')
    expect(runIn(root, 'npm', 'run', 'requirements', '--', '--record').status).toBe(0)
    expect(runIn(root, 'npm', 'run', 'cases', '--', '--record').status).toBe(0)

    const before = runCi(root)
    expect(lastLine(before.stdout)).toBe('11 passed, 0 failed')
    expect(before.status).toBe(0)

    rmSync(join(root, 'again.test.ts'))
    rmSync(join(root, 'two.test.ts'))
    const after = runCi(root)
    expect(after.stdout).toContain('FEWER  S0-1: 1 passing tests name it instead of 2')
    expect(after.stdout).toContain('LOST   S0-2')
    expect(after.stdout).toContain('LOST   H.odd')
    expect(after.stdout).not.toContain('LOST   S0-1')
    expect(after.status).toBe(1)
  })

  test.each([
    ['that passes nothing', '0 passed, 0 failed', '== STEP failed: nothing passed'],
    ['that reports no counts', 'all is well', '== STEP failed: nothing passed'],
    ['that skips', '5 passed, 0 failed, 1 skipped', '== STEP failed: 1 skipped'],
    ['that fails', '5 passed, 1 failed', '5 passed, 1 failed\n== STEP: exit 0'],
  ])('fails on a step %s', (_, text, expected) => {
    for (const step of [
      'test',
      'recorded',
      'nodes',
      'requirements',
      'cases',
      'check',
      'conformance',
      'bench',
    ]) {
      const root = plantStubs()
      writeFileSync(join(root, 'stubs', step), text)
      const { status, stdout } = runCi(root)
      expect([step, status]).toEqual([step, 1])
      expect(stdout.replaceAll('\n\n', '\n')).toContain(expected.replace('STEP', step))
      expect(lastLine(stdout)).toMatch(/, 1 failed$/)
    }
  })

  test('fails when a step exits with an error, whatever it counted', () => {
    const root = plantStubs()
    expect(runCi(root).status).toBe(0)
    writeFileSync(join(root, 'stubs', 'bench.exit'), '3')
    const { status, stdout } = runCi(root)
    expect(stdout).toContain('== bench failed: it ended with exit code 3')
    expect(status).toBe(1)
  })

  test.each([
    ['checked nothing', ''],
    ['could not check every message', '7 messages checked against schemas, 1 could not be checked'],
  ])('fails when the schemas %s', (_, text) => {
    const root = plantStubs()
    writeFileSync(join(root, 'stubs', 'schemas'), `${text}\n`)
    const { status, stdout } = runCi(root)
    expect(stdout).toContain('== test failed: the schemas checked nothing, or not every message')
    expect(status).toBe(1)
  })

  test('does not judge by the results of an earlier run', () => {
    const root = plantStubs()
    mkdirSync(join(root, '.cache'))
    writeFileSync(join(root, '.cache/test-results.json'), '[]')
    runCi(root)
    expect(existsSync(join(root, '.cache/test-results.json'))).toBe(false)
  })

  test('fails when the programs that tests need cannot be installed', () => {
    const root = plantStubs()
    writeFileSync(join(root, 'stubs', 'npx.exit'), '1')
    expect(runCi(root).stdout).toContain('== programs failed: it ended with exit code 1')
  })
})

test('a skipped test fails the run, unless a name was asked for', SLOW, () => {
  const root = plantProject()
  writeTest(root, 'one', 'one')
  expect(runIn(root, 'npm', 'test').status).toBe(0)
  writeFileSync(
    join(root, 'two.test.ts'),
    `import { expect, test } from 'vitest'
test('two', () => expect(2).toBe(2))
test.skipIf(true)('three', () => expect(3).toBe(4))`,
  )
  const skipping = runIn(root, 'npm', 'test')
  expect(lastLine(skipping.stdout)).toBe('2 passed, 0 failed, 1 skipped')
  expect(skipping.status).toBe(1)
  expect(runIn(root, 'npm', 'test', '--', '-t', 'two').status).toBe(0)
})

/** Ids get their brackets here, so that the titles of this file name no ids. */
function mark(id: string): string {
  return `[${id}]`
}

/** A folder with the CI script and a stub for npm, which prints a file of `stubs/` or reports that one thing passed. */
function plantStubs(): string {
  const root = mkdtempSync(join(tmpdir(), 'pierhead-ci-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  for (const folder of ['.ci', 'stubs', 'bin']) mkdirSync(join(root, folder))
  copyFileSync('.ci/run', join(root, '.ci/run'))
  const stub = (name: string): string =>
    `cat stubs/schemas 2>/dev/null || echo '${CHECKED}'
[ -f stubs/${name} ] && cat stubs/${name} || echo '${GOOD}'; echo
exit $(cat stubs/${name}.exit 2>/dev/null || echo 0)`
  writeProgram(root, 'npx', stub('npx'))
  writeProgram(
    root,
    'npm',
    `name=$1; [ "$name" = run ] && name=\${2#test:}; [ -n "$PIERHEAD_SPEC" ] && name=recorded\n${stub('$name')}`,
  )
  return root
}

/** A small project with its own requirements and cases, tested and judged by the real tools. */
function plantProject(): string {
  const root = plantStubs()
  const npm = programOf('npm')
  // Only the installation and the steps about this repository are stubbed.
  writeProgram(
    root,
    'npm',
    `[ -n "$PIERHEAD_SPEC" ] && echo '${GOOD}' && exit
[ "$1" = test ] && echo '${CHECKED}'
case "$*" in ci*|install*) exit 0;; 'run check'|'run conformance'|'run bench'*|'run test:nodes'*) echo '${GOOD}';; *) exec '${npm}' --silent "$@";; esac`,
  )
  symlinkSync(resolve('node_modules'), join(root, 'node_modules'))
  mkdirSync(join(root, 'requirements'))
  mkdirSync(join(root, 'test/security'), { recursive: true })
  const rows = ['S0-1', 'S0-2'].map((id) => ({
    id,
    statement: `says ${id}`,
    area: 'server',
    part: 'foundation',
    honoured: 'It is.',
  }))
  writeFileSync(join(root, 'requirements/s.jsonl'), rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
  const odd = [{ id: 'H.odd', level: 'should', statement: 'odd things are refused' }]
  writeFileSync(join(root, 'test/security/cases.json'), JSON.stringify(odd))
  const tool = (name: string): string => `node --import tsx ${resolve('tools', name)}`
  const scripts = {
    test: 'vitest run',
    requirements: tool('requirements.ts'),
    cases: tool('cases.ts'),
  }
  writeFileSync(join(root, 'package.json'), JSON.stringify({ name: 'planted', type: 'module', scripts }))
  const config = { test: { include: ['*.test.ts'], reporters: [resolve('tools/reporter.ts')] } }
  writeFileSync(join(root, 'vitest.config.mjs'), `export default ${JSON.stringify(config)}`)
  return root
}

function writeTest(root: string, name: string, title: string): void {
  const code = `import { expect, test } from 'vitest'
test(${JSON.stringify(title)}, () => expect(1).toBe(1))`
  writeFileSync(join(root, `${name}.test.ts`), code)
}

function writeProgram(root: string, name: string, body: string): void {
  const file = join(root, 'bin', name)
  writeFileSync(file, `#!/usr/bin/env bash\n${body}\n`)
  chmodSync(file, 0o755)
}

function programOf(name: string): string {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const found = folders.map((folder) => join(folder, name)).find((file) => existsSync(file))
  if (found === undefined) throw new Error(`${name} is not on the PATH`)
  return found
}

interface Result {
  readonly status: number | null
  readonly stdout: string
}

function runCi(root: string): Result {
  return runIn(root, 'bash', '.ci/run')
}

/** Runs a program in a planted folder, with its stubs first on the PATH. */
function runIn(root: string, program: string, ...args: readonly string[]): Result {
  const path = [join(root, 'bin'), dirname(process.execPath), process.env['PATH']].join(delimiter)
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, PIERHEAD_SPEC: '', PATH: path, NO_COLOR: '1', NODE_OPTIONS: '', VITEST: '' },
  })
  return { status, stdout: stdout + stderr }
}

function lastLine(text: string): string | undefined {
  return text.trimEnd().split('\n').at(-1)
}
