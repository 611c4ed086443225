import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { clearHits, HITS, readHits } from './knowledge.ts'
import { instrument, unitAt, unitsOf } from './units.ts'

const SOURCE = `
export class Gate {
  #open = false
  pass(count: number): string {
    if (count > 2) return 'many'
    for (const one of [1, 2]) this.#open = one > 0
    switch (count) {
      case 1:
        const word = 'one'
        return word
      default:
        return [3].map((more) => (more > count ? 'more' : 'less')).join()
    }
  }
}
console.log(new Gate().pass(0), new Error().stack?.split('\\n')[1]?.match(/:(\\d+):/)?.[1])
`

test('units are the module, its functions and their branches', () => {
  const units = unitsOf('src/gate.ts', SOURCE)
  expect(units.map(({ name }) => name)).toEqual([
    '',
    'Gate.pass',
    'Gate.pass/1',
    'Gate.pass/2',
    'Gate.pass/3',
    'Gate.pass/4',
    'Gate.pass.fn',
  ])
  const at = (text: string): string => unitAt(units, SOURCE.indexOf(text)).name
  expect([at('false'), at('count > 2'), at(`'many'`), at('one > 0'), at('word'), at('more >')]).toEqual([
    '',
    'Gate.pass',
    'Gate.pass/1',
    'Gate.pass/2',
    'Gate.pass/3',
    'Gate.pass.fn',
  ])
})

test('an instrumented program behaves the same on the same lines, and logs the units of each test', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pierhead-units-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  clearHits(folder)
  const file = join(folder, 'gate.ts')
  writeFileSync(file, instrument('src/gate.ts', SOURCE, join(folder, HITS)))
  const { stdout } = spawnSync(process.execPath, ['--import', 'tsx', file], { encoding: 'utf8' })
  expect(stdout).toBe('more 16\n')
  const hits = ['#', '#Gate.pass', '#Gate.pass/2', '#Gate.pass/4', '#Gate.pass.fn']
  const units = new Set(hits.map((hit) => `src/gate.ts${hit}`))
  expect(readHits(folder)).toEqual(new Map([['', units]]))
  mkdirSync(join(folder, HITS), { recursive: true })
  writeFileSync(join(folder, HITS, String(process.pid)), '= test/gate.test.ts\n')
  expect(readHits(folder)).toEqual(
    new Map([
      ['', units],
      ['test/gate.test.ts', units],
    ]),
  )
})
