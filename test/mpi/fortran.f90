! Copyright (C) by the MPICH-TSM developers
! See COPYRIGHT in top-level directory

! Threads of a Fortran program, each with a communicator of its own: sections of arrays, whose datatypes
! the binding makes for one call and frees; lists of requests; operators and other procedures of the
! program; windows and memory. MPI_Type_create_f90_real gives all threads the same datatype, which it
! makes only once.

module checks
  use mpi_f08
  implicit none
  integer, parameter :: threads = 4
  integer :: me, peer, handled = 0, copied = 0
contains
  subroutine check(ok, what)
    logical, intent(in) :: ok
    character(*), intent(in) :: what
    if (.not. ok) then
      print '(a,i0,2a)', 'rank ', me, ': ', what
      flush (6)
      call MPI_Abort(MPI_COMM_WORLD, 1)
    end if
  end subroutine

  subroutine twice_and(in, inout, len, datatype)
    use, intrinsic :: iso_c_binding, only : c_ptr, c_f_pointer
    type(c_ptr), value :: in, inout
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    call check(datatype == MPI_INTEGER, 'datatype of an operator')
    call c_f_pointer(in, a, [len])
    call c_f_pointer(inout, b, [len])
    b = 2 * a + b
  end subroutine

  subroutine handle(comm, code)
    type(MPI_Comm) :: comm
    integer :: code, class
    call MPI_Error_class(code, class)
    call check(class == MPI_ERR_RANK, 'class in an error handler')
    !$omp atomic
    handled = handled + 1
  end subroutine

  subroutine copy(comm, key, extra, in, out, flag, ierr)
    type(MPI_Comm) :: comm
    integer :: key, ierr
    integer(MPI_ADDRESS_KIND) :: extra, in, out
    logical :: flag
    out = in + extra
    flag = .true.
    ierr = MPI_SUCCESS
    !$omp atomic
    copied = copied + 1
  end subroutine

  subroutine delete(comm, key, attribute, extra, ierr)
    type(MPI_Comm) :: comm
    integer :: key, ierr
    integer(MPI_ADDRESS_KIND) :: attribute, extra
    ierr = MPI_SUCCESS
  end subroutine

  ! before any other datatype of this kind
  subroutine types()
    type(MPI_Datatype) :: mine(threads)
    integer :: range, t
    do range = 1, 37
      !$omp parallel do num_threads(threads) schedule(static, 1)
      do t = 1, threads
        call MPI_Type_create_f90_real(5, range, mine(t))
      end do
      do t = 1, threads
        call check(mine(t) == mine(1) .and. mine(t) /= MPI_DATATYPE_NULL, 'MPI_Type_create_f90_real')
      end do
    end do
  end subroutine

  ! the parts of a complex number keep their places
  subroutine external32()
    type(MPI_Datatype) :: t
    complex :: z(1) = [(1.0, 2.0)]
    integer(1) :: bytes(8)
    integer(MPI_ADDRESS_KIND) :: position = 0
    call MPI_Type_create_f90_complex(6, 30, t)
    call MPI_Pack_external('external32', z, 1, t, bytes, 8_MPI_ADDRESS_KIND, position)
    call check(position == 8 .and. all(bytes == [63, -128, 0, 0, 64, 0, 0, 0]), 'external32')
  end subroutine

  ! no indices, whatever the program had in their number
  subroutine refused()
    type(MPI_Request) :: r(1)
    integer :: indices(20), n, ierr
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
    indices = 7
    n = 8
    r(1)%MPI_VAL = MPI_COMM_WORLD%MPI_VAL
    call MPI_Waitsome(1, r, n, indices(4:), MPI_STATUSES_IGNORE, ierr)
    call check(ierr /= MPI_SUCCESS .and. all(indices == 7), 'refused MPI_Waitsome')
    n = 8
    call MPI_Testsome(1, r, n, indices(4:), MPI_STATUSES_IGNORE, ierr)
    call check(ierr /= MPI_SUCCESS .and. all(indices == 7), 'refused MPI_Testsome')
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL)
  end subroutine

  subroutine messages(comm, turn)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: turn
    integer, parameter :: n = 2000, list = 8
    integer, asynchronous :: a(n), b(n), c(list)
    type(MPI_Request) :: r(2), rs(list)
    type(MPI_Status) :: s(list)
    integer :: i, n_done, done, indices(list)
    a = [(i + turn + me * n, i = 1, n)]
    b = -1
    call MPI_Irecv(b(2:n:2), n / 2, MPI_INTEGER, peer, 1, comm, r(1))
    call MPI_Isend(a(1:n:2), n / 2, MPI_INTEGER, peer, 1, comm, r(2))
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE)
    call check(all(b(1:n:2) == -1), 'gaps of a section')
    call check(all(b(2:n:2) == [(i + turn + peer * n, i = 1, n, 2)]), 'section')
    do i = 1, list
      call MPI_Irecv(c(i), 1, MPI_INTEGER, peer, i, comm, rs(i))
    end do
    do i = list, 1, -1
      call MPI_Send(a(i), 1, MPI_INTEGER, peer, i, comm)
    end do
    done = 0
    do while (done < list)
      call MPI_Waitsome(list, rs, n_done, indices, s)
      do i = 1, n_done
        call check(s(i)%MPI_TAG == indices(i) .and. s(i)%MPI_SOURCE == peer, 'status in a list')
      end do
      done = done + n_done
    end do
    call check(all(c == [(i + turn + peer * n, i = 1, list)]), 'receives in a list')
    call MPI_Irecv(c(1), 1, MPI_INTEGER, peer, 1, comm, rs(2))
    call MPI_Send(a, 1, MPI_INTEGER, peer, 1, comm)
    call MPI_Waitany(list, rs, indices(1), s(1))
    call MPI_Waitany(list, rs, indices(2), s(1))
    call check(indices(1) == 2 .and. indices(2) == MPI_UNDEFINED, 'MPI_Waitany')
  end subroutine

  subroutine together(comm, op)
    type(MPI_Comm), intent(in) :: comm
    type(MPI_Op), intent(in) :: op
    integer, asynchronous :: v(100)
    type(MPI_Request) :: r
    logical :: l(2)
    v = me + 1
    call MPI_Allreduce(MPI_IN_PLACE, v, 100, MPI_INTEGER, op, comm)
    call check(all(v == 4), 'operator of the program')
    v = me
    call MPI_Ibcast(v(1:100:2), 50, MPI_INTEGER, 1, comm, r)
    call MPI_Wait(r, MPI_STATUS_IGNORE)
    call check(all(v(1:100:2) == 1) .and. all(v(2:100:2) == me), 'broadcast of a section')
    l = [.true., me == 0]
    call MPI_Allreduce(MPI_IN_PLACE, l, 2, MPI_LOGICAL, MPI_LAND, comm)
    call check(l(1) .and. .not. l(2), 'MPI_LAND')
  end subroutine

  subroutine procedures(comm, key, errhandler)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: key
    type(MPI_Errhandler), intent(in) :: errhandler
    type(MPI_Comm) :: dup
    integer(MPI_ADDRESS_KIND) :: value
    logical :: flag
    integer :: v(1)
    value = 2_MPI_ADDRESS_KIND ** 40
    call MPI_Comm_set_attr(comm, key, value)
    call MPI_Comm_dup(comm, dup)
    call MPI_Comm_get_attr(dup, key, value, flag)
    call check(flag .and. value == 2_MPI_ADDRESS_KIND ** 40 + 7, 'copy of an attribute')
    call MPI_Comm_set_errhandler(dup, errhandler)
    call MPI_Send(v, 1, MPI_INTEGER, 1000, 0, dup)
    call MPI_Comm_free(dup)
  end subroutine

  subroutine window()
    use, intrinsic :: iso_c_binding, only : c_ptr, c_f_pointer
    integer(MPI_ADDRESS_KIND) :: bytes, where_to, found
    type(c_ptr) :: base
    type(MPI_Win) :: win
    integer, pointer :: a(:)
    logical, pointer :: l(:)
    integer, parameter :: n = 4 * threads
    integer, asynchronous :: one(n), v(20)
    logical, asynchronous :: third(n)
    integer :: t
    logical :: flag
    bytes = 64 * 4
    call MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win)
    call MPI_Win_get_attr(win, MPI_WIN_SIZE, found, flag)
    call check(flag .and. found == bytes, 'MPI_WIN_SIZE')
    call c_f_pointer(base, a, [64])
    call c_f_pointer(base, l, [64])
    a = 0
    one = 1
    third = .false.
    third(3) = .true.
    v = [(t, t = 1, 20)] + me
    call MPI_Win_fence(0, win)
    where_to = 20
    call MPI_Put(v(1:20:2), 10, MPI_INTEGER, peer, where_to, 10, MPI_INTEGER, win)
    !$omp parallel do num_threads(threads) schedule(static, 1) private(where_to)
    do t = 1, n
      where_to = 0
      call MPI_Accumulate(one(t), 1, MPI_INTEGER, peer, where_to, 1, MPI_INTEGER, MPI_SUM, win)
      where_to = 1
      call MPI_Accumulate(third(t), 1, MPI_LOGICAL, peer, where_to, 1, MPI_LOGICAL, MPI_LOR, win)
    end do
    call MPI_Win_fence(0, win)
    call check(a(1) == n .and. l(2), 'MPI_Accumulate')
    call check(all(a(21:30) == [(t, t = 1, 20, 2)] + peer), 'MPI_Put of a section')
    call MPI_Win_free(win)
  end subroutine
end module

program fortran
  use checks
  implicit none
  integer, parameter :: turns = 50
  type(MPI_Comm) :: comm(threads)
  type(MPI_Op) :: op
  type(MPI_Errhandler) :: errhandler
  integer :: provided, t, turn, key
  integer(MPI_ADDRESS_KIND) :: extra, value
  logical :: flag

  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided)
  call MPI_Comm_rank(MPI_COMM_WORLD, me)
  peer = 1 - me
  call MPI_Comm_size(MPI_COMM_WORLD, t)
  call check(provided == MPI_THREAD_MULTIPLE .and. t == 2, 'two processes with threads are needed')
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag)
  call check(flag .and. value >= 32767, 'MPI_TAG_UB')
  call types()
  call external32()
  call refused()
  call MPI_Op_create(twice_and, .false., op)
  extra = 7
  call MPI_Comm_create_keyval(copy, delete, key, extra)
  call MPI_Comm_create_errhandler(handle, errhandler)
  do t = 1, threads
    call MPI_Comm_dup(MPI_COMM_WORLD, comm(t))
  end do
  !$omp parallel do num_threads(threads) schedule(static, 1) private(turn)
  do t = 1, threads
    do turn = 1, turns
      call messages(comm(t), turn)
      call together(comm(t), op)
      call procedures(comm(t), key, errhandler)
    end do
  end do
  call check(handled == threads * turns .and. copied == threads * turns, 'calls of procedures')
  call window()
  do t = 1, threads
    call MPI_Comm_free(comm(t))
  end do
  call MPI_Comm_free_keyval(key)
  call MPI_Errhandler_free(errhandler)
  call MPI_Op_free(op)
  call MPI_Barrier(MPI_COMM_WORLD)
  if (me == 0) print '(a)', ' No Errors'
  call MPI_Finalize()
end program
