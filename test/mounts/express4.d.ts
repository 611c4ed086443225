/* Express 4 beside Express 5, whose types are close enough for a mount. */
declare module 'express4' {
  export { default } from 'express'
}
