import DaybookStopping

/// An actor that lives on the queue of a context, so that the compiler checks what the context would
/// otherwise check while the program runs.
///
/// ```swift
/// actor Importer: ContextActor {
///     nonisolated let context: ManagedObjectContext
///
///     init(_ container: PersistentContainer) {
///         context = container.newBackgroundContext()
///     }
///
///     func add(_ names: [String]) throws {
///         for name in names { Country(context: context).name = name }
///         try context.save(author: "import")
///     }
/// }
/// ```
///
/// Everything in the actor runs on the context's queue, as in
/// ``ManagedObjectContext/perform(schedule:isolation:_:)``, and may use the context and its objects. Objects
/// cannot leave it, because they are not `Sendable`: return identifiers, values or an ``ObjectSnapshot``.
///
/// - Each stretch between two `await`s is one event, and so one step of undo. At an `await` other methods of
///   the actor may run, and other blocks of the context.
/// - A method that throws, or whose task is cancelled, leaves pending what it has changed: save it, or call
///   ``ManagedObjectContext/rollback()``.
/// - What is pending when the actor and its context go away is lost, as always.
/// - Two actors with a context each run at the same time, also on one container.
public protocol ContextActor: Actor {
    /// The context on whose queue the actor runs. It must always be the same one.
    nonisolated var context: ManagedObjectContext { get }
}

extension ContextActor {
    /// Runs the actor on its context's queue.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        context.executor.asUnownedSerialExecutor()
    }
}

/// Runs the jobs of actors on the queue of a context.
final class ContextExecutor: SerialExecutor, @unchecked Sendable {
    // @unchecked Sendable because the context is set once, before anybody else knows of it.

    /// The context, which keeps the executor.
    private weak var context: ManagedObjectContext?

    /// Sets the context on whose queue the jobs run.
    func serve(_ context: ManagedObjectContext) {
        self.context = context
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        guard let context else { stop("An actor that has something to do keeps its context.") }
        context.lock.submit {
            context.asOneEvent { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
        }
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    func checkIsolated() {
        require(
            context?.lock.isMine == true, "The actor was assumed off the queue of its context.")
    }

    func isIsolatingCurrentContext() -> Bool? { context?.lock.isMine }
}
