import { lazy } from '../base/lazy.ts'
import type * as answers from './answers.ts'

type Module = typeof answers

/** Loads the code that answers the questions of servers. */
export const loadAnswers: () => Module | Promise<Module> = /* @__PURE__ */ lazy(() => import('./answers.ts'))
