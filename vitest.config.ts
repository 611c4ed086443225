import { availableParallelism } from 'node:os'
import { defineConfig, type ViteUserConfig } from 'vitest/config'

const conditions = ['pierhead-source', 'module', 'node', 'development|production']

const config: ViteUserConfig = defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'tools/**/*.test.ts', 'bench/**/*.test.ts'],
    // These only end a hang; they are long so that a busy machine does not fail a test.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
    pool: 'forks',
    // Many tests wait for processes, sockets and clocks, so two cores have time for three files.
    maxWorkers: Math.max(3, availableParallelism() - 1),
    reporters: ['default', './tools/reporter.ts'],
  },
})
export default config
