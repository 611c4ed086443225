import { expect, test, vi } from 'vitest'
import { createSealer } from '../../src/server/state.ts'
import { bundle, run } from './bundle.ts'

interface Told {
  readonly title: string
  readonly resultType?: string
  readonly state?: number
  readonly code?: number
  readonly message?: string
}

test(
  'N.answers-huge answers of 12 MB neither exhaust a server with 256 MB nor travel in its state [R227]',
  { timeout: 120_000 },
  async () => {
    const flags = ['--max-old-space-size=256']
    const { code, stdout, stderr } = await run(bundle('rounds-server'), [], '', flags)
    expect([code, stderr]).toEqual([0, ''])
    const told = JSON.parse(stdout) as readonly Told[]
    const [small] = told
    const asked = { resultType: 'input_required', state: small?.state }
    const refused = {
      code: -32602,
      message: expect.stringMatching(
        /^the answers and `ctx.once` values of this request exceed 196580 bytes/,
      ) as string,
    }
    expect(told).toMatchObject([
      { title: 'small', ...asked },
      { title: 'a text', ...asked },
      { title: 'a text for a prompt', ...asked },
      { title: 'many', ...asked },
      { title: 'a text beside a state', ...asked },
      { title: 'an early answer', ...refused },
      { title: 'an answer', ...refused },
      { title: 'an answer in other letters', ...refused },
      { title: 'a value', ...refused },
      { title: 'the last answer', resultType: 'complete' },
    ])
  },
)

test.each(['with', 'without'])(
  'N.state-large the largest state that is issued is accepted, %s the Buffer of Node',
  async (buffer) => {
    if (buffer === 'without') vi.stubGlobal('Buffer', undefined)
    try {
      const sealer = createSealer({
        server: 'state',
        secrets: ['a secret of enough letters'],
        ttlMs: 1000,
        now: () => 1,
      })
      const filled = (size: number): { answers: []; once: [string, string][]; open: [] } => ({
        answers: [],
        once: [['text', 'x'.repeat(size)]],
        open: [],
      })
      const most = 196_580 - JSON.stringify({ ...filled(0), expires: 1001, binding: 'me' }).length
      const text = await sealer.seal(filled(most), 'me')
      expect(text).toHaveLength(256 * 1024)
      expect(await sealer.open(text, async () => 'me')).toEqual(filled(most))
      await expect(sealer.seal(filled(most + 1), 'me')).rejects.toMatchObject({ kind: 'state_too_large' })
    } finally {
      vi.unstubAllGlobals()
    }
  },
)
