export const hooks = {
  beforePacking(manifest) {
    const { scripts, devDependencies, ...published } = manifest
    return published
  },
}
