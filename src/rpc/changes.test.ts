import { expect, onTestFinished, test, vi } from 'vitest'
import { Changes, type Watcher } from './changes.ts'

const everybody = (): boolean => false

/** Keeps the process busy, as a listener does that sends much. */
function work(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('a change of a resource reaches its watchers and those of its parents, once each', () => {
  const changes = new Changes()
  const seen: string[] = []
  const watch = (name: string, ...uris: string[]): void => {
    const watcher: Watcher = ({ uri }) => void seen.push(`${name} ${uri}`)
    for (const uri of uris) changes.watch(uri, watcher)
  }
  watch('self', 'a://b/c')
  watch('both', 'a://b', 'a://b/c')
  watch('slash', 'a://b/')
  watch('parent', 'a://b')
  watch('sibling', 'a://b/cc', 'a://b/c/', 'a://b/c/d', 'a://')
  watch('part', 'a://b/c'.slice(0, 5).slice(0, 4))
  changes.publish({ kind: 'resource', uri: 'a://b/c', isForSome: everybody })
  expect(seen.toSorted()).toEqual(
    ['both', 'parent', 'part', 'self', 'sibling', 'slash'].map((name) => `${name} a://b/c`),
  )
  seen.length = 0
  changes.publish({ kind: 'resource', uri: 'a://b/c', isForSome: () => true })
  expect(seen.toSorted()).toEqual([
    'both a://b/c',
    'parent a://b',
    'part a://',
    'self a://b/c',
    'sibling a://',
    'slash a://b/',
  ])
})

test('a change costs nothing for those who watch something else', () => {
  const changes = new Changes()
  const watched: string[] = []
  const seen = (uri: string): void => void watched.push(uri)
  const unwanted: Watcher = ({ uri }) => seen(uri)
  for (let each = 0; each < 1000; each++) changes.watch(`junk://${each}`, unwanted)
  let looked = 0
  const { get } = Map.prototype
  Map.prototype.get = function (key) {
    looked++
    return get.call(this, key) as unknown
  }
  try {
    changes.publish({ kind: 'resource', uri: 'a://b', isForSome: everybody })
  } finally {
    Map.prototype.get = get
  }
  expect(looked).toBeLessThan(10)
  changes.unwatch('junk://1', unwanted)
  for (const uri of ['junk://1', 'junk://2']) changes.publish({ kind: 'resource', uri, isForSome: everybody })
  expect(watched).toEqual(['junk://2'])
})

test('many listeners are served in turns, each change before the next, and the same change only once', async () => {
  const changes = new Changes()
  const seen: string[] = []
  const stops = Array.from({ length: 10 }, (_, name) =>
    changes.listen(({ kind }) => {
      work(15)
      seen.push(`${kind}${name}`)
    }),
  )
  const all = (kind: string): string[] => Array.from({ length: 10 }, (_, name) => `${kind}${name}`)
  changes.publish({ kind: 'tools' })
  expect(seen.length).toBeLessThan(10)
  changes.publish({ kind: 'prompts' })
  changes.publish({ kind: 'tools' })
  changes.publish({ kind: 'prompts' })
  await expect.poll(() => seen.length).toBe(30)
  expect(seen).toEqual([...all('tools'), ...all('prompts'), ...all('tools')])
  await turn()
  for (const stop of stops) stop()
  changes.listen(({ kind }) => void seen.push(`late ${kind}`))
  changes.publish({ kind: 'tools' })
  expect(seen.at(-1)).toBe('late tools')
})

test('who stops listening during a pause hears no more, and an error does not stop the others', async () => {
  const changes = new Changes()
  const seen: number[] = []
  const failed: unknown[] = []
  const catchOne = (error: unknown): void => void failed.push(error)
  process.once('uncaughtException', catchOne)
  const stops = Array.from({ length: 4 }, (_, name) =>
    changes.listen(() => {
      work(25)
      seen.push(name)
      if (name === 0) throw new Error('broken')
    }),
  )
  changes.publish({ kind: 'tools' })
  stops[2]!()
  await expect.poll(() => seen).toEqual([0, 1, 3])
  process.off('uncaughtException', catchOne)
})

test('a listener that causes changes does not run them inside itself', () => {
  const changes = new Changes()
  const seen: string[] = []
  changes.listen(({ kind }) => {
    seen.push(`begin ${kind}`)
    if (kind === 'tools') changes.publish({ kind: 'prompts' })
    seen.push(`end ${kind}`)
  })
  changes.publish({ kind: 'tools' })
  expect(seen).toEqual(['begin tools', 'end tools', 'begin prompts', 'end prompts'])
})

test('changes that wait are bounded: beyond that, they are sent at once', () => {
  const changes = new Changes()
  const seen: string[] = []
  const watcher: Watcher = ({ uri }) => {
    if (uri === 'a://first') work(25)
    seen.push(uri)
  }
  changes.watch('a:', watcher)
  changes.watch('a:', ({ uri }) => void (uri === 'a://first' && work(25)))
  changes.publish({ kind: 'resource', uri: 'a://first', isForSome: everybody })
  for (let each = 0; each < 3000; each++)
    changes.publish({ kind: 'resource', uri: `a://${each}`, isForSome: everybody })
  expect(seen.slice(0, 3)).toEqual(['a://first', 'a://0', 'a://1'])
  expect(seen.length).toBeGreaterThan(1900)
})

/** A clock that only `spend` moves. */
function clock(): { spend: (ms: number) => void } {
  let now = performance.now()
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => now)
  onTestFinished(() => spy.mockRestore())
  return { spend: (ms) => void (now += ms) }
}

test('many listeners leave most of the time to others: changes that follow each other wait and are merged', async () => {
  const changes = new Changes()
  const { spend } = clock()
  const told: string[] = []
  let calls = 0
  for (let each = 1; each <= 500; each++) {
    const watcher: Watcher = ({ uri }) => {
      spend(0.02)
      calls++
      if (each === 1) told.push(`first ${uri}`)
      if (each === 500) told.push(`last ${uri}`)
    }
    for (const uri of ['a://1', 'a://2']) changes.watch(uri, watcher)
  }
  const update = (uri: string): void => changes.publish({ kind: 'resource', uri, isForSome: everybody })
  update('a://1')
  expect(told).toEqual(['first a://1', 'last a://1'])
  for (let at = 0; at < 100; at++) {
    update(`a://${1 + (at % 2)}`)
    await turn()
  }
  changes.watch('a://end', () => void told.push('end'))
  update('a://end')
  await expect.poll(() => told.at(-1)).toBe('end')
  const spreads = told.filter((one) => one.startsWith('first'))
  expect([spreads.length < 50, calls]).toEqual([true, spreads.length * 500])
  expect(told.filter((one) => one.startsWith('last')).map((one) => one.replace('last', 'first'))).toEqual(
    spreads,
  )
  expect(spreads.slice(0, 3)).toEqual(['first a://1', 'first a://1', 'first a://2'])
})

test('a change that waits and comes again has its last position, after the changes before that', async () => {
  const changes = new Changes()
  const { spend } = clock()
  const told: unknown[] = []
  for (let each = 0; each < 500; each++) changes.listen(() => spend(0.1))
  changes.listen(({ kind, position }) => void told.push([kind, position]))
  changes.watch('a://b', ({ uri }, position) => void told.push([uri, position]))
  const deliver = (kind: 'tools' | 'prompts', position: number): void => changes.deliver({ kind, position })
  deliver('prompts', 1)
  deliver('tools', 2)
  changes.deliver({ kind: 'resource', uri: 'a://b', isForSome: everybody, position: 3 })
  deliver('tools', 4)
  await expect.poll(() => told.length).toBe(3)
  expect(told).toEqual([
    ['prompts', 1],
    ['a://b', 3],
    ['tools', 4],
  ])
})

test('what is sent to many in several turns rests between them', async () => {
  const changes = new Changes()
  const { spend } = clock()
  let calls = 0
  for (let each = 0; each < 500; each++)
    changes.listen(() => {
      spend(0.1)
      calls++
    })
  changes.publish({ kind: 'tools' })
  const after = [calls]
  for (let at = 0; at < 3; at++) {
    await turn()
    after.push(calls)
  }
  expect(after.map((one) => one < 250)).toEqual([true, true, true, true])
  await expect.poll(() => calls).toBe(500)
})

test('a server that closes does not let changes wait', async () => {
  const changes = new Changes()
  const { spend } = clock()
  let calls = 0
  for (let each = 0; each < 500; each++)
    changes.listen(() => {
      spend(0.02)
      calls++
    })
  changes.publish({ kind: 'tools' })
  changes.publish({ kind: 'tools' })
  expect(calls).toBe(500)
  changes.hurry(true)
  expect(calls).toBe(1000)
  changes.publish({ kind: 'tools' })
  expect(calls).toBe(1500)
  changes.hurry(false)
  changes.publish({ kind: 'tools' })
  expect(calls).toBe(1500)
  await expect.poll(() => calls).toBe(2000)
})
