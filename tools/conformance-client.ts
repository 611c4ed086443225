console.error('the conformance client is not part of this release')
process.exitCode = 1
