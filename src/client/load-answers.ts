import { lazy } from '../base/lazy.ts'

/** Loads the code that answers the questions of servers. */
export const loadAnswers: () => typeof import('./answers.ts') | Promise<typeof import('./answers.ts')> =
  /* @__PURE__ */ lazy(() => import('./answers.ts'))
