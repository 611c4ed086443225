import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

/** The gates and the programs behind them, in their order. */
const GATES: Readonly<Record<string, string>> = {
  format: 'oxfmt --check',
  lint: 'oxlint',
  unused: 'knip --no-progress --no-config-hints',
  boundaries: 'boundaries',
  types: 'tsc -p .',
  build: 'build',
  docs: 'pages --check',
  surface: 'surface --check',
  optional: 'optional',
  package: 'package',
  size: 'size',
}

/** A repository whose gates only write down that they ran; `failing` fails. */
function plant(failing = ''): string {
  const root = mkdtempSync(join(tmpdir(), 'pierhead-check-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  mkdirSync(join(root, 'node_modules', '.bin'), { recursive: true })
  mkdirSync(join(root, 'tools'))
  symlinkSync(resolve('node_modules/tsx'), join(root, 'node_modules/tsx'))
  for (const name of ['oxfmt', 'oxlint', 'knip', 'tsc']) {
    const file = join(root, 'node_modules/.bin', name)
    writeFileSync(file, `#!/bin/sh\necho ${name} "$@" >> ran\nexit ${name === failing ? 1 : 0}\n`)
    chmodSync(file, 0o755)
  }
  for (const name of ['boundaries', 'build', 'pages', 'surface', 'optional', 'package', 'size'])
    writeFileSync(
      join(root, 'tools', `${name}.ts`),
      `import { appendFileSync } from 'node:fs'\nappendFileSync('ran', [${JSON.stringify(name)}, ...process.argv.slice(2)].join(' ') + '\\n')\nprocess.exitCode = ${name === failing ? 1 : 0}\n`,
    )
  return root
}

interface Run {
  readonly status: number | null
  readonly text: string
  readonly ran: readonly string[]
}

function check(root: string, ...steps: readonly string[]): Run {
  const args = ['--import', resolve('node_modules/tsx/dist/loader.mjs'), resolve('tools/check.ts'), ...steps]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' })
  let ran = ''
  try {
    ran = readFileSync(join(root, 'ran'), 'utf8')
  } catch {
    // Nothing ran.
  }
  return { status, text: stdout + stderr, ran: ran.split('\n').filter((line) => line !== '') }
}

test('npm run check runs every gate, in their order [S2-14-6]', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
  expect(scripts.check).toBe('tsx tools/check.ts')
  const { status, text, ran } = check(plant())
  expect({ status, ran: ran.map((line) => line.trim()) }).toEqual({ status: 0, ran: Object.values(GATES) })
  expect(text).toContain(`${Object.keys(GATES).length} passed, 0 failed`)
  expect(readFileSync('CONTRIBUTING.md', 'utf8')).toContain(Object.keys(GATES).join(', '))
})

test.each([
  ['oxfmt', 'format', 1],
  ['tsc', 'types', 5],
  ['size', 'size', 11],
])('it fails if %s fails, and stops there [S2-14-6]', (program, gate, count) => {
  const { status, text, ran } = check(plant(program))
  expect({ status, count: ran.length }).toEqual({ status: 1, count })
  expect(text).toContain(`${gate} failed after`)
  expect(text).not.toContain('0 failed')
})

test('it runs only the gates that are named, and rejects others', () => {
  expect(check(plant(), 'types', 'lint').ran.map((line) => line.trim())).toEqual(['oxlint', 'tsc -p .'])
  const { status, text, ran } = check(plant(), 'tpyes')
  expect({ status, ran }).toEqual({ status: 1, ran: [] })
  expect(text).toContain('unknown step tpyes; the steps are format, lint')
})
