import { McpError } from '../../../src/errors/error.ts'
import type { JsonObject } from '../../../src/protocol/jsonrpc.ts'
import { createSealer, toBinding } from '../../../src/server/state.ts'
import { claim, target, type Target } from '../fuzz.ts'
import { mutateText } from '../mutate.ts'
import { anyText, plainValue } from '../values.ts'

interface Input {
  readonly state: {
    readonly answers: readonly (readonly [string, JsonObject])[]
    readonly once: readonly (readonly [string, unknown])[]
    readonly open: readonly string[]
  }
  readonly params: Readonly<Record<string, unknown>>
  readonly other: Readonly<Record<string, unknown>>
  /** How the sealed text is spoilt. */
  spoil(text: string): string
}

const sealer = createSealer({ server: 'state', secrets: ['fuzz', 'earlier'], ttlMs: 60_000 })
const stranger = createSealer({ server: 'state', secrets: ['another'], ttlMs: 60_000 })
const foreign = createSealer({ server: 'another', secrets: ['fuzz', 'earlier'], ttlMs: 60_000 })
const late = createSealer({
  server: 'state',
  secrets: ['fuzz'],
  ttlMs: 60_000,
  now: () => Date.now() + 61_000,
})

/** A sealed state opens for its own request alone, unaltered, in time, under its secret. */
export const stateTarget: Target = target<Input>({
  name: 'state',
  share: 0.4,
  make(random) {
    const object = (): Record<string, unknown> => ({
      a: plainValue(random),
      [anyText(random)]: plainValue(random, 2),
    })
    const letters = 'ABCXYZabcxyz0189-_+/= '.split('')
    return {
      state: {
        answers: Object.entries(object()) as [string, JsonObject][],
        once: Object.entries(object()),
        open: [anyText(random)],
      },
      params: object(),
      other: object(),
      spoil: (text) =>
        random.oneIn(2)
          ? text.slice(0, random.below(text.length)) +
            random.pick(letters) +
            text.slice(random.below(text.length))
          : mutateText(text, random, letters),
    }
  },
  async check({ state, params, other, spoil }) {
    const [binding, otherBinding] = await Promise.all([
      toBinding('me', 'tools/call', params),
      toBinding('me', 'tools/call', other),
    ])
    const reversed = await toBinding(
      'me',
      'tools/call',
      Object.fromEntries(Object.entries(params).toReversed()),
    )
    claim(reversed === binding, 'the order of arguments matters')
    const text = await sealer.seal(state, binding)
    claim(/^[\w-]+$/.test(text), 'a state is not plain text')
    const open = await sealer.open(text, async () => binding)
    claim(JSON.stringify(open) === JSON.stringify(state), 'a state comes back as another')
    const spoilt = spoil(text)
    if (spoilt !== text)
      await refuses(
        sealer.open(spoilt, async () => binding),
        'an altered state is taken',
      )
    if (otherBinding !== binding)
      await refuses(
        sealer.open(text, async () => otherBinding),
        'a state is taken for another request',
      )
    else claim(JSON.stringify(params) === JSON.stringify(other), 'two requests share a binding')
    await refuses(
      stranger.open(text, async () => binding),
      'a state is opened with another secret',
    )
    await refuses(
      foreign.open(text, async () => binding),
      'a state is opened by a server of another name',
    )
    await refuses(
      late.open(text, async () => binding),
      'a state is opened too late',
    )
  },
})

async function refuses(opening: Promise<unknown>, problem: string): Promise<void> {
  const outcome = await opening.catch((thrown: unknown) => thrown)
  if (outcome instanceof Error && !(outcome instanceof McpError)) throw outcome
  claim(outcome instanceof McpError && outcome.kind === 'bad_state', problem)
}
