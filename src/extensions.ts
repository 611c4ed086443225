export { Apps } from './extensions/app-registry.ts'
export type {
  AppAction,
  AppFacts,
  AppShown,
  AppsOptions,
  AppState,
  AppUnit,
} from './extensions/app-registry.ts'
export { apps, type AppsApi } from './extensions/apps.ts'
export {
  defineExtension,
  type Extension,
  type ExtensionDefinition,
  type Handlers,
  type MethodMap,
  type MethodShape,
  type Remote,
} from './extensions/define.ts'
export {
  health,
  type Health,
  type HealthApi,
  type HealthCheck,
  type HealthCheckResult,
  type HealthOptions,
  type HealthStatus,
  type HealthVerdict,
} from './extensions/health.ts'
export type { Host, Served } from './extensions/install.ts'
export type { Requester } from './extensions/remote.ts'
export { subscriptions, type Subscription, type SubscriptionsApi } from './extensions/subscriptions.ts'
export {
  toolCompletion,
  type ToolCompleters,
  type ToolCompletion,
  type ToolCompletionApi,
} from './extensions/tool-completion.ts'
export { toolStream, type ToolStreamApi } from './extensions/tool-stream.ts'
export type { CallOptions } from './client/options.ts'
export type { Completer, Completions, Suggestion } from './server/completion.ts'
export type { Context } from './server/context.ts'
