import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { main } from './run.ts'

const bin = (name: string): readonly string[] => [join('node_modules', '.bin', name)]
const tool = (name: string): readonly string[] => [process.execPath, '--import', 'tsx', `tools/${name}.ts`]

/** The checks that a change must pass, in this order. */
const STEPS: ReadonlyMap<string, readonly string[]> = new Map([
  ['format', [...bin('oxfmt'), '--check']],
  ['lint', bin('oxlint')],
  ['unused', [...bin('knip'), '--no-progress', '--no-config-hints']],
  ['boundaries', tool('boundaries')],
  ['types', [...bin('tsc'), '-p', '.']],
  ['build', tool('build')],
  ['docs', [...tool('pages'), '--check']],
  ['surface', [...tool('surface'), '--check']],
  ['optional', tool('optional')],
  ['package', tool('package')],
  ['size', tool('size')],
])

/** Runs the named steps, or all, and stops at the first that fails. */
function check(names: readonly string[]): void {
  const unknown = names.filter((name) => !STEPS.has(name))
  if (unknown.length > 0)
    throw new Error(`unknown step ${unknown.join(', ')}; the steps are ${[...STEPS.keys()].join(', ')}`)
  let passed = 0
  for (const [name, [program = '', ...args]] of STEPS) {
    if (names.length > 0 && !names.includes(name)) continue
    console.log(`\n${name}`)
    const began = performance.now()
    const { status, error } = spawnSync(program, args, { stdio: 'inherit' })
    const seconds = ((performance.now() - began) / 1000).toFixed(1)
    if (status !== 0) throw new Error(`${name} failed after ${seconds} s${error ? `: ${error.message}` : ''}`)
    console.log(`${name} passed in ${seconds} s`)
    passed++
  }
  console.log(`\n${passed} passed, 0 failed`)
}

await main(() => check(process.argv.slice(2)))
