import { relative, resolve } from 'node:path'
import { startVitest, type Reporter, type TestModule, type TestSpecification } from 'vitest/node'
import { isBroken } from '../reporter.ts'
import type { Event, Order } from './trial.ts'

/** Runs the test files that its argument names, in their order, and writes what happens to standard output. */
const order = JSON.parse(process.argv[2] ?? '') as Order

function tell(event: Event): void {
  process.stdout.write(`\n@${JSON.stringify(event)}\n`)
}

class Sequence {
  shard(files: TestSpecification[]): TestSpecification[] {
    return files
  }

  sort(files: TestSpecification[]): TestSpecification[] {
    const place = (file: TestSpecification): number =>
      order.files.indexOf(relative(process.cwd(), file.moduleId))
    return files.toSorted((one, other) => place(one) - place(other))
  }
}

/** How long a test may take that says nothing else: many mutants are noticed because something never comes. */
const HANGS_MS = 30_000

/** What Vitest says when a busy machine delays its own messages. */
const OWN_TROUBLE = /Timeout (calling|waiting)|\[vitest/

const began = new Map<string, number>()
const reporter: Reporter = {
  onTestModuleQueued: (module) => void began.set(module.moduleId, performance.now()),
  onTestModuleCollected: () => tell({ type: 'alive' }),
  onTestCaseReady: () => tell({ type: 'alive' }),
  onTestCaseResult: (found) => {
    const file = relative(process.cwd(), found.module.moduleId)
    if (found.result().state === 'failed') tell({ type: 'failed', file, title: found.fullName })
    else tell({ type: 'alive' })
  },
  onTestModuleEnd: (module) => tell(toEvent(module)),
  onTestRunEnd: (modules, unhandled) => {
    for (const module of modules) if (isBroken(module)) tell(toEvent(module))
    const messages = unhandled.map(({ message }) => message).filter((message) => !OWN_TROUBLE.test(message))
    tell({ type: 'end', unhandled: messages })
  },
}

function toEvent(module: TestModule): Event {
  const file = relative(process.cwd(), module.moduleId)
  const passed = module.ok() && !isBroken(module)
  return {
    type: 'file',
    file,
    passed,
    seconds: (performance.now() - (began.get(module.moduleId) ?? 0)) / 1000,
  }
}

const { files, only, together, workers, setup, bail } = order
const vitest = await startVitest(
  'test',
  [],
  {
    root: process.cwd(),
    watch: false,
    include: [...files],
    reporters: [reporter],
    sequence: { sequencer: Sequence },
    maxWorkers: workers,
    isolate: !together,
    fileParallelism: workers > 1,
    bail: bail ? 1 : 0,
    testTimeout: HANGS_MS,
    experimental: { fsModuleCache: true, fsModuleCachePath: resolve('.cache/modules') },
    ...(only !== undefined && { testNamePattern: only }),
    ...(setup !== undefined && { setupFiles: [setup] }),
  },
  { cacheDir: resolve('.cache/vite') },
)
await vitest.close()
process.exit()
