import { expect, test } from 'vitest'
import { bundle, run } from './bundle.ts'

test(
  'M.growth S.flood twenty thousand hostile messages of each kind leave no memory behind',
  { timeout: 300_000 },
  async () => {
    const { code, stdout, stderr } = await run(bundle('growth'), [], '', ['--expose-gc'])
    expect([code, stderr]).toEqual([0, ''])
    const { found, alive } = JSON.parse(stdout) as {
      found: Record<string, { grown: number; ms: number }>
      alive: number
    }
    expect(Object.keys(found).length).toBeGreaterThan(30)
    const grown = Object.entries(found).filter(([, { grown: bytes }]) => bytes > 2_000_000)
    expect(grown).toEqual([])
    expect(alive).toBeLessThanOrEqual(500)
  },
)
