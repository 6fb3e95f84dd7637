// Three entry points of the Swift runtime, from its list of them (docs/Runtime.md in the repository
// of the language). The compiler calls them for `unowned` references and for loading weak ones; the
// language cannot express "keep the memory, and check whether the object is still alive".

#ifndef OBJECT_LIVENESS_H
#define OBJECT_LIVENESS_H

// Prevents an object's memory from being reused after the object has been deinitialized.
void *swift_unownedRetain(void *object);

// Undoes that.
void swift_unownedRelease(void *object);

// Retains an object that is alive; null for one whose deinitialization has begun. Atomic.
void *swift_tryRetain(void *object);

#endif
