import type { App, Plugin } from 'pierhead'

/** Counts requests by outcome and serves the totals as text. */
export function counters(): Plugin {
  const totals = new Map<string, number>()
  return {
    observer: {
      end: (_request, { outcome }) => void totals.set(outcome, (totals.get(outcome) ?? 0) + 1),
    },
    endpoints: {
      '/metrics': () => new Response([...totals].map(([outcome, count]) => `${outcome} ${count}\n`).join('')),
    },
  }
}

/** Answers `tools/call` with an error while orders are being migrated. */
export function pauseCalls(app: App, isPaused: () => boolean): void {
  app.intercept('tools/call', (_call, next) => {
    if (!isPaused()) return next()
    return { isError: true, content: [{ type: 'text', text: 'Orders are read-only until 14:00.' }] }
  })
}
