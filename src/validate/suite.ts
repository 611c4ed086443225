/** The official conformance suite, and the version that our results were compared with. */
export const SUITE = '@modelcontextprotocol/conformance'
export const SUITE_VERSION = '0.2.0-alpha.12'
/** The id of the outcome for a suite that could not be run. */
export const SUITE_ID = 'official:suite'
