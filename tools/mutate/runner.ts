import { relative, resolve } from 'node:path'
import { startVitest, type Reporter, type TestModule, type TestSpecification } from 'vitest/node'
import { isBroken } from '../reporter.ts'
import type { Event, RunOptions } from './test-run.ts'

/** Runs the test files named in its argument, in that order, and writes events to standard output. */
const options = JSON.parse(process.argv[2] ?? '') as RunOptions

function emit(event: Event): void {
  process.stdout.write(`\n@${JSON.stringify(event)}\n`)
}

class Sequence {
  shard(files: TestSpecification[]): TestSpecification[] {
    return files
  }

  sort(files: TestSpecification[]): TestSpecification[] {
    const place = (file: TestSpecification): number =>
      options.files.indexOf(relative(process.cwd(), file.moduleId))
    return files.toSorted((one, other) => place(one) - place(other))
  }
}

/** The default test timeout: many mutants are detected because something never happens. */
const TEST_TIMEOUT_MS = 30_000

/** The errors of Vitest itself when a busy machine delays its internal messages. */
const VITEST_TIMEOUT = /Timeout (calling|waiting)|\[vitest/

const began = new Map<string, number>()
const reporter: Reporter = {
  onTestModuleQueued: (module) => void began.set(module.moduleId, performance.now()),
  onTestModuleCollected: () => emit({ type: 'alive' }),
  onTestCaseReady: () => emit({ type: 'alive' }),
  onTestCaseResult: (found) => {
    const file = relative(process.cwd(), found.module.moduleId)
    if (found.result().state === 'failed') emit({ type: 'failed', file, title: found.fullName })
    else emit({ type: 'alive' })
  },
  onTestModuleEnd: (module) => emit(toEvent(module)),
  onTestRunEnd: (modules, unhandled) => {
    for (const module of modules) if (isBroken(module)) emit(toEvent(module))
    const messages = unhandled
      .map(({ message }) => message)
      .filter((message) => !VITEST_TIMEOUT.test(message))
    emit({ type: 'end', unhandled: messages })
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

const { files, only, together, workers, setup, bail } = options
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
    testTimeout: TEST_TIMEOUT_MS,
    experimental: { fsModuleCache: true, fsModuleCachePath: resolve('.cache/modules') },
    ...(only !== undefined && { testNamePattern: only }),
    ...(setup !== undefined && { setupFiles: [setup] }),
  },
  { cacheDir: resolve('.cache/vite') },
)
await vitest.close()
process.exit()
